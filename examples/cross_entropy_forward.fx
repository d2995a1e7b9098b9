class GraphModule(torch.nn.Module):
    def forward(self, logits: "f32[512, 32768]", target: "i64[512]"):
        # File: loss.py:14 in loss, code: log_probability = logits.log_softmax(dim=1)
        log_softmax: "f32[512, 32768]" = torch.ops.aten._log_softmax.default(logits, 1, False);  logits = None

        # File: loss.py:15 in loss, code: kept = target != -100
        kept: "b8[512]" = torch.ops.aten.ne.Scalar(target, -100)

        # File: loss.py:16 in loss, code: place = torch.where(kept, target, 0).unsqueeze(1)
        zero: "i64[]" = torch.ops.aten.full.default([], 0, dtype = torch.int64, layout = torch.strided, device = device(type='cpu'), pin_memory = False)
        where: "i64[512]" = torch.ops.aten.where.self(kept, target, zero);  target = zero = None
        place: "i64[512, 1]" = torch.ops.aten.unsqueeze.default(where, 1);  where = None

        # File: loss.py:17 in loss, code: loss = -log_probability.gather(1, place).squeeze(1)
        gather: "f32[512, 1]" = torch.ops.aten.gather.default(log_softmax, 1, place);  log_softmax = place = None
        squeeze: "f32[512]" = torch.ops.aten.squeeze.dims(gather, [1]);  gather = None
        loss: "f32[512]" = torch.ops.aten.neg.default(squeeze);  squeeze = None

        # File: loss.py:18 in loss, code: return torch.where(kept, loss, 0.0).sum() / kept.sum()
        nothing: "f32[]" = torch.ops.aten.full.default([], 0.0, dtype = torch.float32, layout = torch.strided, device = device(type='cpu'), pin_memory = False)
        masked: "f32[512]" = torch.ops.aten.where.self(kept, loss, nothing);  loss = nothing = None
        total: "f32[]" = torch.ops.aten.sum.dim_IntList(masked, []);  masked = None
        count: "i64[]" = torch.ops.aten.sum.dim_IntList(kept, []);  kept = None
        mean: "f32[]" = torch.ops.aten.div.Tensor(total, count);  total = count = None
        return (mean,)
