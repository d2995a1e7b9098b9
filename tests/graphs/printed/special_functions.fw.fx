class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[301]"):
        # File: capture.py:76 in special_functions, code: positive = x.abs() + 0.1
        abs_1: "f32[301]" = torch.ops.aten.abs.default(arg0_1)
        add: "f32[301]" = torch.ops.aten.add.Tensor(abs_1, 0.1);  abs_1 = None

        # File: capture.py:77 in special_functions, code: return (torch.erf(x), torch.lgamma(positive), torch.digamma(positive), torch.expm1(x), torch.log1p(x.abs()),
        erf: "f32[301]" = torch.ops.aten.erf.default(arg0_1)
        lgamma: "f32[301]" = torch.ops.aten.lgamma.default(add)
        digamma: "f32[301]" = torch.ops.aten.digamma.default(add);  add = None
        expm1: "f32[301]" = torch.ops.aten.expm1.default(arg0_1)
        abs_2: "f32[301]" = torch.ops.aten.abs.default(arg0_1)
        log1p: "f32[301]" = torch.ops.aten.log1p.default(abs_2);  abs_2 = None

        # File: capture.py:78 in special_functions, code: torch.sinh(x), torch.asinh(x), torch.atan2(x, x.flip(0)), x.abs()**1.7, torch.hypot(x, x + 1),
        sinh: "f32[301]" = torch.ops.aten.sinh.default(arg0_1)
        asinh: "f32[301]" = torch.ops.aten.asinh.default(arg0_1)
        flip: "f32[301]" = torch.ops.aten.flip.default(arg0_1, [0])
        atan2: "f32[301]" = torch.ops.aten.atan2.default(arg0_1, flip);  flip = None
        abs_3: "f32[301]" = torch.ops.aten.abs.default(arg0_1)
        pow_1: "f32[301]" = torch.ops.aten.pow.Tensor_Scalar(abs_3, 1.7);  abs_3 = None
        add_1: "f32[301]" = torch.ops.aten.add.Tensor(arg0_1, 1)
        hypot: "f32[301]" = torch.ops.aten.hypot.default(arg0_1, add_1);  add_1 = None

        # File: capture.py:79 in special_functions, code: torch.fmod(x, 0.7), torch.remainder(x, -0.7), torch.isnan(x / 0), torch.erfinv(torch.tanh(x) * 0.9))
        fmod: "f32[301]" = torch.ops.aten.fmod.Scalar(arg0_1, 0.7)
        remainder: "f32[301]" = torch.ops.aten.remainder.Scalar(arg0_1, -0.7)
        div: "f32[301]" = torch.ops.aten.div.Tensor(arg0_1, 0)
        isnan: "b8[301]" = torch.ops.aten.isnan.default(div);  div = None
        tanh: "f32[301]" = torch.ops.aten.tanh.default(arg0_1);  arg0_1 = None
        mul: "f32[301]" = torch.ops.aten.mul.Tensor(tanh, 0.9);  tanh = None
        erfinv: "f32[301]" = torch.ops.aten.erfinv.default(mul);  mul = None
        return (erf, lgamma, digamma, expm1, log1p, sinh, asinh, atan2, pow_1, hypot, fmod, remainder, isnan, erfinv)

