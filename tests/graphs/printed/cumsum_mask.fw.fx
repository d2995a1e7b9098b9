class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[6, 90]", arg1_1: "b8[6, 90]"):
        # File: capture.py:42 in cumsum_mask, code: return torch.where(mask, torch.cumsum(x, -1), 0.0)
        cumsum: "f32[6, 90]" = torch.ops.aten.cumsum.default(arg0_1, -1);  arg0_1 = None
        scalar_tensor: "f32[]" = torch.ops.aten.scalar_tensor.default(0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'))
        where: "f32[6, 90]" = torch.ops.aten.where.self(arg1_1, cumsum, scalar_tensor);  arg1_1 = cumsum = scalar_tensor = None
        return (where,)

