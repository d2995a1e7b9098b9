class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[7, 28]", arg1_1: "f32[7, 19]"):
        # File: torch/nn/functional.py:5430 in pad, code: return torch._C._nn.pad(input, pad, mode, value)
        constant_pad_nd: "f32[7, 31]" = torch.ops.aten.constant_pad_nd.default(arg0_1, [1, 2], 0.5);  arg0_1 = None

        # File: capture.py:56 in pad_slice_cat_flip, code: return torch.cos(torch.cat([F.pad(x, (1, 2), value=0.5)[:, ::2], y.flip(1)[:, 1:]], 1))
        slice_1: "f32[7, 16]" = torch.ops.aten.slice.Tensor(constant_pad_nd, 1, 0, 9223372036854775807, 2);  constant_pad_nd = None
        flip: "f32[7, 19]" = torch.ops.aten.flip.default(arg1_1, [1]);  arg1_1 = None
        slice_2: "f32[7, 18]" = torch.ops.aten.slice.Tensor(flip, 1, 1, 9223372036854775807);  flip = None
        cat: "f32[7, 34]" = torch.ops.aten.cat.default([slice_1, slice_2], 1);  slice_1 = slice_2 = None
        cos: "f32[7, 34]" = torch.ops.aten.cos.default(cat);  cat = None
        return (cos,)

