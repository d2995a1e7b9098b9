"""How the arguments of attention are drawn."""

import torch

from drawing import FLOATING, drawn


def finite(tensor):
    """Small numbers, of which few exponentials overflow."""
    return tensor.nan_to_num(1.0, 2.0, -2.0).clamp(-4, 4)


def mask_for(d, scores, dtype, kinds=("truths", "numbers", "f32")):
    """One that broadcasts to the scores, rarely of a type or shape that does not fit; some rows see nothing."""
    shape = list(scores)[d.random.randint(0, len(scores) - 2):]
    shape = [1 if d.chance(0.2) else size for size in shape]
    if d.chance(0.03):
        shape[-1] += 2
    kind = d.choice(kinds)
    if kind == "truths":
        return d.tensor(shape, torch.bool)
    made = finite(d.tensor(shape, torch.float32 if kind == "f32" else d.dtype(FLOATING) if d.chance(0.03) else dtype))
    hidden = d.tensor(shape, torch.bool) if d.chance(0.5) else torch.zeros(shape, dtype=torch.bool)
    return made.masked_fill(hidden, float("-inf"))


def operands(d, rank, grouped, one_size):
    """Queries, keys, values and the shape of the scores."""
    dtype = d.dtype(FLOATING)
    heads, fewer = d.choice([1, 2, 3]), d.choice([1, 2]) if grouped else 1
    length, keys = d.choice([1, 2, 3, 5, 9]), d.choice([1, 2, 3, 5, 9])
    size = d.choice([1, 2, 4])
    of_values = size if one_size or d.chance(0.6) else d.choice([1, 3])
    before = [d.choice([1, 2, 3]) for _ in range(rank - 2)]
    of_keys = list(before)
    if rank > 2:
        before[-1], of_keys[-1] = heads * fewer, heads
    if not grouped and not one_size:  # the axes before the last two broadcast
        of_keys = [1 if d.chance(0.1) else axis for axis in of_keys]
    tensors = [finite(d.tensor(shape, dtype))
               for shape in ([*before, length, size], [*of_keys, keys, size], [*of_keys, keys, of_values])]
    return tensors, [*before, length, keys]


@drawn("scaled_dot_product_attention", "_scaled_dot_product_attention_math")
def attention(d):
    grouped = d.chance(0.3)
    tensors, scores = operands(d, d.choice([3, 4, 4, 4, 5] if grouped else [2, 3, 4, 4, 4, 5]), grouped, one_size=False)
    is_causal = d.chance(0.3)
    kinds = ("numbers",) if d.operator.endswith("math") else ("truths", "numbers", "f32")
    mask = d.maybe(lambda: mask_for(d, scores, tensors[0].dtype, kinds), 0.03 if is_causal else 0.5)
    keywords = {"scale": d.choice([0.25, 1.5])} if d.chance(0.3) else {}
    if grouped:
        keywords["enable_gqa"] = True
    return [*tensors, mask, 0.0, is_causal], keywords


def kernel(d):
    tensors, scores = operands(d, 4, d.chance(0.4), one_size=True)
    keywords = {"scale": d.choice([0.25, 1.5])} if d.chance(0.3) else {}
    return tensors, scores, keywords


@drawn("_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention_for_cpu_backward")
def flash_attention_for_cpu(d):
    tensors, scores, keywords = kernel(d)
    is_causal = d.chance(0.3)
    if d.chance(0.5):
        keywords["attn_mask"] = mask_for(d, scores, tensors[0].dtype, ("numbers", "f32"))
    if "backward" not in d.operator:
        return [*tensors, 0.0, is_causal], keywords
    try:
        kept = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(*tensors, 0.0, is_causal, **keywords)
    except RuntimeError:
        kept = [tensors[0], tensors[0]]
    return [finite(d.tensor(tensors[0].shape, tensors[0].dtype)), *tensors, *kept, 0.0, is_causal], keywords


# PyTorch's CPU has no kernel for these: compare_attention.py compares them with a formula.
@drawn("_scaled_dot_product_efficient_attention", "_scaled_dot_product_efficient_attention_backward",
       "_scaled_dot_product_fused_attention_overrideable_backward")
def of_other_devices(d):
    q, seed = finite(d.tensor([1, 1, 2, 2], torch.float32)), torch.tensor(0)
    if d.operator == "_scaled_dot_product_efficient_attention":
        return [q, q, q, None, True]
    if d.operator == "_scaled_dot_product_efficient_attention_backward":
        return [q, q, q, q, q, q, q[..., 0], seed, seed, 0.0, [True] * 4]
    return [q, q, q, q, q, [True] * 4, q, q[..., 0], q, q, 2, 2, 0.0, False, seed, seed]
