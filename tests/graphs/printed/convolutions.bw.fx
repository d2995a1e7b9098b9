class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[2, 5, 11, 9]", primals_2: "f32[6, 5, 3, 3]", primals_4: "f32[6, 2, 2, 2]", primals_5: "f32[6, 2, 3, 2]", convolution: "f32[2, 6, 6, 9]", tanh: "f32[2, 6, 5, 8]", alias: "f32[2, 6, 5, 8]", tangents_1: "f32[2, 4, 10, 14]"):
        # File: capture.py:96 in convolutions, code: return F.conv_transpose2d(y, transposed, stride=2, padding=1, output_padding=(1, 0), groups=2)
        convolution_backward = torch.ops.aten.convolution_backward.default(tangents_1, tanh, primals_5, [0], [2, 2], [1, 1], [1, 1], True, [1, 0], 2, [True, True, False]);  tangents_1 = tanh = primals_5 = None
        getitem: "f32[2, 6, 5, 8]" = convolution_backward[0]
        getitem_1: "f32[6, 2, 3, 2]" = convolution_backward[1];  convolution_backward = None

        # File: capture.py:95 in convolutions, code: y = torch.tanh(F.conv2d(y, grouped, groups=3, padding="valid"))
        alias_1: "f32[2, 6, 5, 8]" = torch.ops.aten.alias.default(alias);  alias = None
        mul: "f32[2, 6, 5, 8]" = torch.ops.aten.mul.Tensor(alias_1, alias_1);  alias_1 = None
        sub: "f32[2, 6, 5, 8]" = torch.ops.aten.sub.Tensor(1, mul);  mul = None
        mul_1: "f32[2, 6, 5, 8]" = torch.ops.aten.mul.Tensor(getitem, sub);  getitem = sub = None
        convolution_backward_1 = torch.ops.aten.convolution_backward.default(mul_1, convolution, primals_4, [0], [1, 1], [0], [1, 1], False, [0], 3, [True, True, False]);  mul_1 = convolution = primals_4 = None
        getitem_3: "f32[2, 6, 6, 9]" = convolution_backward_1[0]
        getitem_4: "f32[6, 2, 2, 2]" = convolution_backward_1[1];  convolution_backward_1 = None

        # File: capture.py:94 in convolutions, code: y = F.conv2d(x, plain, bias, stride=(2, 1), padding=(1, 2), dilation=(1, 2))
        convolution_backward_2 = torch.ops.aten.convolution_backward.default(getitem_3, primals_1, primals_2, [6], [2, 1], [1, 2], [1, 2], False, [0, 0], 1, [True, True, True]);  getitem_3 = primals_1 = primals_2 = None
        getitem_6: "f32[2, 5, 11, 9]" = convolution_backward_2[0]
        getitem_7: "f32[6, 5, 3, 3]" = convolution_backward_2[1]
        getitem_8: "f32[6]" = convolution_backward_2[2];  convolution_backward_2 = None
        return (getitem_6, getitem_7, getitem_8, getitem_4, getitem_1)

