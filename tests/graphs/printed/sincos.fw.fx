class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "f32[49, 51]"):
        # File: capture.py:21 in sincos, code: return torch.sin(torch.cos(x))
        cos: "f32[49, 51]" = torch.ops.aten.cos.default(arg0_1);  arg0_1 = None
        sin: "f32[49, 51]" = torch.ops.aten.sin.default(cos);  cos = None
        return (sin,)

