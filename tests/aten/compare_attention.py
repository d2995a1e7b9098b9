#!/usr/bin/env python3
"""Compares what PyTorch's kernels for attention give, on devices that this machine need not have, with a formula in f64.

    compare_attention.py --program BIN/run_texts [--cases 400] [--seed 1] [--cpu-share 0.1] [--show 3]

Each text has a forward operator with drawn masks, heads and sizes and, behind it, its backward operator; compared are
result, sums, and gradients, in type, shape and elements.

Exit code 0: all agree; 1: some do not; 77: PyTorch is not installed.
"""

import math
import pathlib
import sys

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from compare_with_torch import elements_differ  # noqa: E402
from drawing import FLOATING, Drawing  # noqa: E402
from operators_attention import finite  # noqa: E402
from texts import annotation, parse_options, run_all  # noqa: E402

# Arguments behind q, k, v; those of the backward operator, where f[n] is result n of the first; whether it takes a mask.
FORMS = {
    "flash_attention_for_cpu": ("0.0, {causal}, attn_mask = {mask}", "f[0], f[1], 0.0, {causal}, attn_mask = {mask}", True),
    "flash_attention": ("0.0, {causal}", "f[0], f[1], f[2], f[3], f[4], f[5], 0.0, {causal}, f[6], f[7]", False),
    "efficient_attention": ("{mask}, True, 0.0, {causal}",
                            "{mask}, f[0], f[1], f[2], f[3], 0.0, [True, True, True, True], {causal}", True),
    "cudnn_attention": ("{mask}, True, 0.0, {causal}",
                        "f[0], f[1], f[6], f[7], {mask}, f[2], f[3], f[4], f[5], 0.0, {causal}", True),
    "fused_attention_overrideable": ("{mask}, 0.0, {causal}", "{mask}, [True, True, True, True], f[0], f[1], f[2], f[3], f[4], "
                                     "f[5], 0.0, {causal}, f[6], f[7]", True),
}
GIVES_GRADIENT_OF_MASK = {"efficient_attention", "fused_attention_overrideable"}


class Case:
    def __init__(self, seed):
        d = Drawing(seed)
        self.form = d.choice(list(FORMS))
        dtype = d.dtype(FLOATING)
        batch, fewer, each = d.choice([1, 2, 3]), d.choice([1, 2]), d.choice([1, 1, 2, 3])
        length, keys, size = d.choice([1, 2, 3, 31, 33]), d.choice([1, 2, 5, 40]), d.choice([1, 2, 8])
        of_values = d.choice([size, size, 3])
        shapes = [[batch, fewer * each, length, size], [batch, fewer, keys, size], [batch, fewer, keys, of_values],
                  [batch, fewer * each, length, of_values]]
        self.q, self.k, self.v, self.g = (finite(d.tensor(shape, dtype)) for shape in shapes)
        self.mask, self.causal = None, d.chance(0.4)
        if FORMS[self.form][2] and d.chance(0.5):
            shape = [d.choice([1, batch]), d.choice([1, fewer * each]), length, keys]
            hidden = d.tensor(shape, torch.bool)
            self.mask = finite(d.tensor(shape, dtype)).masked_fill(hidden, -math.inf)
        self.scale = d.choice([None, 0.5, -0.25])
        self.expected = self.by_formula()

    def by_formula(self):
        q, k, v, g = (one.double().requires_grad_() for one in (self.q, self.k, self.v, self.g))
        mask = None if self.mask is None else self.mask.double().requires_grad_()
        each = self.q.shape[1] // self.k.shape[1]
        keys, values = (one.repeat_interleave(each, 1) for one in (k, v))
        scores = q @ keys.mT * (1 / math.sqrt(q.shape[-1]) if self.scale is None else self.scale)
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril() if self.causal else torch.tensor(True)
        if mask is not None:
            seen, scores = seen & (mask > -math.inf), scores + mask.masked_fill(mask == -math.inf, 0)
        empty = ~seen.expand(scores.shape).any(-1, keepdim=True)
        sums = torch.where(seen | empty, scores, -math.inf).logsumexp(-1, keepdim=True).masked_fill(empty, 0)
        result = torch.where(seen, (scores - sums).exp(), 0) @ values
        wanted = [q, k, v] + ([mask] if mask is not None else [])
        # The backward operator has the rounded result: by p * sum(g * error) the gradients of scores are off, and p is the
        # gradient of the sums.
        off = (g * (result.to(self.q.dtype).double() - result)).sum(-1, keepdim=True).detach()
        gradients = torch.autograd.grad((result * g).sum() - (off * sums).sum(), wanted)
        gradients = [one.to(self.q.dtype) for one in gradients]
        kept = sums if self.form == "cudnn_attention" else sums[..., 0]
        if self.form == "efficient_attention":
            kept = torch.nn.functional.pad(kept, (0, -kept.shape[-1] % 32), value=math.inf)
        of_mask = [gradients[3] if mask is not None else None] if self.form in GIVES_GRADIENT_OF_MASK else []
        return [result.detach().to(self.q.dtype), kept.detach().float(), *gradients[:3], *of_mask]

    def text(self):
        target, (forward, backward, _) = f"torch.ops.aten._scaled_dot_product_{self.form}", FORMS[self.form]
        holes = {"mask": "None" if self.mask is None else "m", "causal": self.causal}
        scale = "" if self.scale is None else f", scale = {self.scale}"
        parameters = dict(zip("gqkvm", self.tensors()))
        results = [f"f[{k}]" for k in range(2)] + [f"b[{k}]" for k in range(len(self.expected) - 2)]
        lines = ["class <lambda>(torch.nn.Module):",
                 f"    def forward(self{''.join(f', {name}: {annotation(one)}' for name, one in parameters.items())}):",
                 f"        f = {target}.default(q, k, v, {forward.format(**holes)}{scale})",
                 f"        b = {target}_backward.default(g, q, k, v, {backward.format(**holes)}{scale})"]
        for k, (name, one) in enumerate(zip(results, self.expected)):
            lines.append(f"        r{k}{'' if one is None else ': ' + annotation(one)} = {name}")
        return "\n".join([*lines, f"        return ({', '.join(f'r{k}' for k in range(len(results)))})"]) + "\n"

    def tensors(self):
        return [self.g, self.q, self.k, self.v] + ([] if self.mask is None else [self.mask])


def difference(case, answer):
    """Words for what is wrong, or None."""
    kind, given = answer
    if kind != "ok":
        return f"{kind}: {given}"
    for k, (want, got) in enumerate(zip(case.expected, given, strict=True)):
        if (want is None) != (got is None) or want is not None and (want.dtype, want.shape) != (got.dtype, got.shape):
            return f"result {k}: {got}, expected {want}"
        # Terms of gradients cancel, and an element of the result may be rounded to 16 bits the other way.
        slack = {torch.float64: 1e-9, torch.float32: 1e-5}.get(case.q.dtype, 0.01 if k > 1 else 0)
        if want is not None and (words := elements_differ(want, got, slack)):
            return f"result {k}: {words}"
    return None


def main():
    options = parse_options(__doc__, cases=400, cpu_share=0.1)
    torch.set_num_threads(1)
    cases = [Case(f"{options.seed}/{k}") for k in range(options.cases)]
    share = max(1, round(1 / options.cpu_share)) if options.cpu_share > 0 else 0
    wrong = []
    for execution, chosen in {"strict": cases, "fused": cases, "cpu": cases[::share] if share else []}.items():
        answers = run_all(options.program, execution, [(one.text(), one.tensors()) for one in chosen])
        wrong += [(execution, one, words) for one, answer in zip(chosen, answers) if (words := difference(one, answer))]
    for execution, case, words in wrong[:options.show]:
        print(f"--- {execution}: {words}\n{case.text()}", *(f"    {one.tolist()}\n" for one in case.tensors()), sep="")
    print(f"{len(cases)} texts: {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
