class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[100]", primals_2: "f32[3, 11, 100]", getitem_1: "f32[3, 11, 1]", getitem_2: "f32[3, 11, 1]", tangents_1: "f32[3, 11, 100]"):
        # File: capture.py:29 in layernorm, code: return F.layer_norm(x, weight.shape, weight, bias)
        sub: "f32[3, 11, 100]" = torch.ops.aten.sub.Tensor(primals_2, getitem_1);  primals_2 = getitem_1 = None
        mul: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(sub, getitem_2);  sub = None
        mul_1: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(tangents_1, primals_1);  primals_1 = None
        mul_2: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(mul_1, 100)
        sum_1: "f32[3, 11, 1]" = torch.ops.aten.sum.dim_IntList(mul_1, [2], True)
        mul_3: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(mul_1, mul);  mul_1 = None
        sum_2: "f32[3, 11, 1]" = torch.ops.aten.sum.dim_IntList(mul_3, [2], True);  mul_3 = None
        mul_4: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(mul, sum_2);  sum_2 = None
        sub_1: "f32[3, 11, 100]" = torch.ops.aten.sub.Tensor(mul_2, sum_1);  mul_2 = sum_1 = None
        sub_2: "f32[3, 11, 100]" = torch.ops.aten.sub.Tensor(sub_1, mul_4);  sub_1 = mul_4 = None
        div: "f32[3, 11, 1]" = torch.ops.aten.div.Tensor(getitem_2, 100);  getitem_2 = None
        mul_5: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(div, sub_2);  div = sub_2 = None
        mul_6: "f32[3, 11, 100]" = torch.ops.aten.mul.Tensor(tangents_1, mul);  mul = None
        sum_3: "f32[100]" = torch.ops.aten.sum.dim_IntList(mul_6, [0, 1]);  mul_6 = None
        sum_4: "f32[100]" = torch.ops.aten.sum.dim_IntList(tangents_1, [0, 1]);  tangents_1 = None
        return (sum_3, mul_5, sum_4)

