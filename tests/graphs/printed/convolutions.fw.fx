class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[2, 5, 11, 9]", primals_2: "f32[6, 5, 3, 3]", primals_3: "f32[6]", primals_4: "f32[6, 2, 2, 2]", primals_5: "f32[6, 2, 3, 2]"):
        # File: capture.py:94 in convolutions, code: y = F.conv2d(x, plain, bias, stride=(2, 1), padding=(1, 2), dilation=(1, 2))
        convolution: "f32[2, 6, 6, 9]" = torch.ops.aten.convolution.default(primals_1, primals_2, primals_3, [2, 1], [1, 2], [1, 2], False, [0, 0], 1);  primals_3 = None

        # File: capture.py:95 in convolutions, code: y = torch.tanh(F.conv2d(y, grouped, groups=3, padding="valid"))
        convolution_1: "f32[2, 6, 5, 8]" = torch.ops.aten.convolution.default(convolution, primals_4, None, [1, 1], [0], [1, 1], False, [0], 3)
        tanh: "f32[2, 6, 5, 8]" = torch.ops.aten.tanh.default(convolution_1);  convolution_1 = None
        alias: "f32[2, 6, 5, 8]" = torch.ops.aten.alias.default(tanh)

        # File: capture.py:96 in convolutions, code: return F.conv_transpose2d(y, transposed, stride=2, padding=1, output_padding=(1, 0), groups=2)
        convolution_2: "f32[2, 4, 10, 14]" = torch.ops.aten.convolution.default(tanh, primals_5, None, [2, 2], [1, 1], [1, 1], True, [1, 0], 2)
        return (convolution_2, primals_1, primals_2, primals_4, primals_5, convolution, tanh, alias)

