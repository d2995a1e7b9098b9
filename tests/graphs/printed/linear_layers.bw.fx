class GraphModule(torch.nn.Module):
    def forward(self, primals_2: "f32[7, 19]", primals_3: "f32[19, 33]", primals_4: "f32[33, 5]", addmm: "f32[7, 33]", gelu: "f32[7, 33]", tangents_1: "f32[7, 5]"):
        # File: capture.py:100 in linear_layers, code: return F.gelu(torch.addmm(offset, x, first)) @ second
        permute: "f32[33, 7]" = torch.ops.aten.permute.default(gelu, [1, 0]);  gelu = None
        mm_1: "f32[33, 5]" = torch.ops.aten.mm.default(permute, tangents_1);  permute = None
        permute_1: "f32[5, 33]" = torch.ops.aten.permute.default(primals_4, [1, 0]);  primals_4 = None
        mm_2: "f32[7, 33]" = torch.ops.aten.mm.default(tangents_1, permute_1);  tangents_1 = permute_1 = None
        mul: "f32[7, 33]" = torch.ops.aten.mul.Tensor(addmm, 0.7071067811865476)
        erf: "f32[7, 33]" = torch.ops.aten.erf.default(mul);  mul = None
        add: "f32[7, 33]" = torch.ops.aten.add.Tensor(erf, 1);  erf = None
        mul_1: "f32[7, 33]" = torch.ops.aten.mul.Tensor(add, 0.5);  add = None
        mul_2: "f32[7, 33]" = torch.ops.aten.mul.Tensor(addmm, addmm)
        mul_3: "f32[7, 33]" = torch.ops.aten.mul.Tensor(mul_2, -0.5);  mul_2 = None
        exp: "f32[7, 33]" = torch.ops.aten.exp.default(mul_3);  mul_3 = None
        mul_4: "f32[7, 33]" = torch.ops.aten.mul.Tensor(exp, 0.3989422804014327);  exp = None
        mul_5: "f32[7, 33]" = torch.ops.aten.mul.Tensor(addmm, mul_4);  addmm = mul_4 = None
        add_1: "f32[7, 33]" = torch.ops.aten.add.Tensor(mul_1, mul_5);  mul_1 = mul_5 = None
        mul_6: "f32[7, 33]" = torch.ops.aten.mul.Tensor(mm_2, add_1);  mm_2 = add_1 = None
        permute_2: "f32[33, 19]" = torch.ops.aten.permute.default(primals_3, [1, 0]);  primals_3 = None
        mm_3: "f32[7, 19]" = torch.ops.aten.mm.default(mul_6, permute_2);  permute_2 = None
        permute_3: "f32[19, 7]" = torch.ops.aten.permute.default(primals_2, [1, 0]);  primals_2 = None
        mm_4: "f32[19, 33]" = torch.ops.aten.mm.default(permute_3, mul_6);  permute_3 = None
        sum_1: "f32[1, 33]" = torch.ops.aten.sum.dim_IntList(mul_6, [0], True);  mul_6 = None
        view: "f32[33]" = torch.ops.aten.view.default(sum_1, [33]);  sum_1 = None
        return (view, mm_3, mm_4, mm_1)

