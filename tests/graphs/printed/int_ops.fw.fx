class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "i64[3, 37]", arg1_1: "i64[3, 37]"):
        # File: capture.py:71 in int_ops, code: return (x // y, x % y, x & y, x << 2, (x > y).sum(), torch.div(x, y, rounding_mode="trunc"), x.to(torch.uint8),
        div: "i64[3, 37]" = torch.ops.aten.div.Tensor_mode(arg0_1, arg1_1, rounding_mode = 'floor')
        remainder: "i64[3, 37]" = torch.ops.aten.remainder.Tensor(arg0_1, arg1_1)
        bitwise_and: "i64[3, 37]" = torch.ops.aten.bitwise_and.Tensor(arg0_1, arg1_1)
        lshift: "i64[3, 37]" = torch.ops.aten.__lshift__.Scalar(arg0_1, 2)
        gt: "b8[3, 37]" = torch.ops.aten.gt.Tensor(arg0_1, arg1_1)
        sum_1: "i64[]" = torch.ops.aten.sum.dim_IntList(gt, []);  gt = None
        div_1: "i64[3, 37]" = torch.ops.aten.div.Tensor_mode(arg0_1, arg1_1, rounding_mode = 'trunc')
        _to_copy: "u8[3, 37]" = torch.ops.aten._to_copy.default(arg0_1, dtype = torch.uint8)

        # File: capture.py:72 in int_ops, code: x.float() / y)
        _to_copy_1: "f32[3, 37]" = torch.ops.aten._to_copy.default(arg0_1, dtype = torch.float32);  arg0_1 = None
        div_2: "f32[3, 37]" = torch.ops.aten.div.Tensor(_to_copy_1, arg1_1);  _to_copy_1 = arg1_1 = None
        return (div, remainder, bitwise_and, lshift, sum_1, div_1, _to_copy, div_2)

