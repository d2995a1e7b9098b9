class GraphModule(torch.nn.Module):
    def forward(self, primals_1: "f32[24, 205]", primals_2: "i64[24]"):
        # File: capture.py:33 in cross_entropy, code: return F.cross_entropy(scores, target)
        _log_softmax: "f32[24, 205]" = torch.ops.aten._log_softmax.default(primals_1, 1, False);  primals_1 = None
        alias: "f32[24, 205]" = torch.ops.aten.alias.default(_log_softmax)
        ne: "b8[24]" = torch.ops.aten.ne.Scalar(primals_2, -100)
        scalar_tensor: "i64[]" = torch.ops.aten.scalar_tensor.default(0, dtype = torch.int64, layout = torch.strided, device = device(type='cpu'))
        where: "i64[24]" = torch.ops.aten.where.self(ne, primals_2, scalar_tensor);  ne = scalar_tensor = None
        unsqueeze: "i64[24, 1]" = torch.ops.aten.unsqueeze.default(where, 1);  where = None
        gather: "f32[24, 1]" = torch.ops.aten.gather.default(_log_softmax, 1, unsqueeze);  unsqueeze = None
        squeeze: "f32[24]" = torch.ops.aten.squeeze.dims(gather, [1]);  gather = None
        neg: "f32[24]" = torch.ops.aten.neg.default(squeeze);  squeeze = None
        ne_1: "b8[24]" = torch.ops.aten.ne.Scalar(primals_2, -100)
        scalar_tensor_1: "f32[]" = torch.ops.aten.scalar_tensor.default(0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'))
        where_1: "f32[24]" = torch.ops.aten.where.self(ne_1, neg, scalar_tensor_1);  ne_1 = neg = scalar_tensor_1 = None
        ne_2: "b8[24]" = torch.ops.aten.ne.Scalar(primals_2, -100)
        sum_1: "i64[]" = torch.ops.aten.sum.dim_IntList(ne_2, []);  ne_2 = None
        _to_copy: "f32[]" = torch.ops.aten._to_copy.default(sum_1, dtype = torch.float32, device = device(type='cpu'));  sum_1 = None
        sum_2: "f32[]" = torch.ops.aten.sum.dim_IntList(where_1, []);  where_1 = None
        div: "f32[]" = torch.ops.aten.div.Tensor(sum_2, _to_copy);  sum_2 = None
        return (div, primals_2, _log_softmax, alias, _to_copy)

