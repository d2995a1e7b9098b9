class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[30, 21]", arg1_1: "f32[30, 21]", arg2_1: "f32[30, 21]", arg3_1: "f32[30, 21]"):
        # File: capture.py:64 in adamw_step, code: first = first * 0.9 + gradient * 0.1
        mul: "f32[30, 21]" = torch.ops.aten.mul.Tensor(arg0_1, 0.9);  arg0_1 = None
        mul_1: "f32[30, 21]" = torch.ops.aten.mul.Tensor(arg1_1, 0.1)
        add: "f32[30, 21]" = torch.ops.aten.add.Tensor(mul, mul_1);  mul = mul_1 = None

        # File: capture.py:65 in adamw_step, code: second = second * 0.99 + gradient * gradient * 0.01
        mul_2: "f32[30, 21]" = torch.ops.aten.mul.Tensor(arg2_1, 0.99);  arg2_1 = None
        mul_3: "f32[30, 21]" = torch.ops.aten.mul.Tensor(arg1_1, arg1_1);  arg1_1 = None
        mul_4: "f32[30, 21]" = torch.ops.aten.mul.Tensor(mul_3, 0.01);  mul_3 = None
        add_1: "f32[30, 21]" = torch.ops.aten.add.Tensor(mul_2, mul_4);  mul_2 = mul_4 = None

        # File: capture.py:66 in adamw_step, code: update = (first / (1 - 0.9**2)) / ((second / (1 - 0.99**2)).sqrt() + 1e-8)
        div: "f32[30, 21]" = torch.ops.aten.div.Tensor(add, 0.18999999999999995)
        div_1: "f32[30, 21]" = torch.ops.aten.div.Tensor(add_1, 0.01990000000000003)
        sqrt: "f32[30, 21]" = torch.ops.aten.sqrt.default(div_1);  div_1 = None
        add_2: "f32[30, 21]" = torch.ops.aten.add.Tensor(sqrt, 1e-08);  sqrt = None
        div_2: "f32[30, 21]" = torch.ops.aten.div.Tensor(div, add_2);  div = add_2 = None

        # File: capture.py:67 in adamw_step, code: return parameter * (1 - 1e-3 * 0.02) - 1e-3 * update, first, second
        mul_5: "f32[30, 21]" = torch.ops.aten.mul.Tensor(arg3_1, 0.99998);  arg3_1 = None
        mul_6: "f32[30, 21]" = torch.ops.aten.mul.Tensor(div_2, 0.001);  div_2 = None
        sub: "f32[30, 21]" = torch.ops.aten.sub.Tensor(mul_5, mul_6);  mul_5 = mul_6 = None
        return (sub, add, add_1)

