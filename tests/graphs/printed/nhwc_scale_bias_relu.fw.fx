class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[3, 32, 5, 5]", arg1_1: "f32[1, 32, 1, 1]", arg2_1: "f32[1, 32, 1, 1]"):
        # File: capture.py:37 in nhwc_scale_bias_relu, code: y = torch.relu(x * scale + bias)
        mul: "f32[3, 32, 5, 5]" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1)
        add: "f32[3, 32, 5, 5]" = torch.ops.aten.add.Tensor(mul, arg2_1);  mul = None
        relu: "f32[3, 32, 5, 5]" = torch.ops.aten.relu.default(add);  add = None

        # File: capture.py:38 in nhwc_scale_bias_relu, code: return y.half(), torch.relu(x * scale + bias) > 0
        _to_copy: "f16[3, 32, 5, 5]" = torch.ops.aten._to_copy.default(relu, dtype = torch.float16);  relu = None
        mul_1: "f32[3, 32, 5, 5]" = torch.ops.aten.mul.Tensor(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
        add_1: "f32[3, 32, 5, 5]" = torch.ops.aten.add.Tensor(mul_1, arg2_1);  mul_1 = arg2_1 = None
        relu_1: "f32[3, 32, 5, 5]" = torch.ops.aten.relu.default(add_1);  add_1 = None
        gt: "b8[3, 32, 5, 5]" = torch.ops.aten.gt.Scalar(relu_1, 0);  relu_1 = None
        return (_to_copy, gt)

