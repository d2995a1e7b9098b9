"""Runs the text of an FX graph by PyTorch on the CPU, as it stands and with all floats as f64.

Random numbers become parameters of the text, so that both sides get the same.
"""

import re

import numpy
import torch
import torch._inductor.inductor_prims  # noqa: F401, prims.fma and its like

import sizes

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
         "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8,
         "b8": torch.bool}
RANDOM = re.compile(r'^\s+(\w+): ("[^"]*") = torch\.ops\.(?:aten\.rand|prims\.inductor_seeds)\.default\(.*\)$', re.M)


def without_random(text):
    """The text with a parameter in place of each draw."""
    drawn = RANDOM.findall(text)
    text = RANDOM.sub("", text)
    more = "".join(f", {name}: {annotation}" for name, annotation in drawn)
    end = text.index("):\n", text.index("def forward("))
    return text[:end] + more + text[end:]


def strided(values, strides):
    """The same elements in memory with these strides."""
    room = 1 + sum((size - 1) * stride for size, stride in zip(values.shape, strides))
    memory = torch.zeros(max(room, 1), dtype=values.dtype)
    # Strides may reach an element twice: then one of its values stays.
    places = torch.arange(max(room, 1)).as_strided(values.shape, strides)
    memory[places.reshape(-1)] = values.reshape(-1)
    return memory.as_strided(values.shape, strides)


def inputs_of(text, bounds, seed, least):
    """A tensor for each parameter; integers from `bounds`, by name, else from `least` to 8."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for name, dtype, shape, strides in sizes.parameters_of(text):
        kind = TYPES[dtype]
        if kind == torch.bool:
            values = torch.randint(0, 2, shape, generator=generator).bool()
        elif not kind.is_floating_point:
            low, high = bounds.get(name, (0 if kind == torch.uint8 else least, 8))
            values = torch.randint(low, high + 1, shape, generator=generator).to(kind)
        elif name.startswith("inductor_random"):
            values = torch.rand(shape, generator=generator).to(kind)
        else:
            values = torch.randn(shape, generator=generator).to(kind)
        found.append(values if strides is None else strided(values, strides))
    return found


def device(*_, **__):
    return torch.device("cpu")


def stable_sort(x, dim=-1, descending=False):
    """PyTorch leaves open the order of equal elements, here and in topk."""
    return torch.sort(x, stable=True, dim=dim, descending=descending)


def stable_topk(x, k, dim=-1, largest=True, sorted=True):
    return [each.narrow(dim, 0, k).contiguous() for each in stable_sort(x, dim, largest)]


def run(text, inputs, wide):
    """The results; `wide` computes every float as f64."""
    if wide:
        text = re.sub(r"torch\.(float32|float16|bfloat16)\b", "torch.float64", text)
        text = text.replace("torch.complex64", "torch.complex128")
        inputs = [value.double() if value.is_floating_point() else value for value in inputs]
    for name in ("sort", "topk"):
        text = text.replace(f"torch.ops.aten.{name}.default(", f"stable_{name}(")
    names = {"torch": torch, "device": device, "inf": float("inf"), "nan": float("nan"),
             "stable_sort": stable_sort, "stable_topk": stable_topk}
    body = re.sub(r'(\w+): "[^"]*"', r"\1", text)
    exec(body, names)
    module = next(value for value in names.values() if isinstance(value, type))
    with torch.no_grad():
        results = module.forward(None, *(strided_clone(value) for value in inputs))
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    return [torch.view_as_real(one.resolve_conj()) if torch.is_complex(one) else one for one in results]


def strided_clone(value):
    return strided(value, value.stride()) if value.numel() else value.clone()


def archive(tensors, prefix):
    """Arrays for numpy.savez as the program reads them."""
    arrays = {}
    for k, value in enumerate(tensors):
        name = f"{prefix}{k}"
        strides = numpy.array(value.stride(), dtype=numpy.int64)
        value = value.contiguous()
        if value.dtype == torch.bfloat16:
            arrays[f"{name}_bf16"] = value.view(torch.int16).numpy().view(numpy.uint16)
        else:
            arrays[name] = value.numpy()
        if prefix == "in":
            arrays[f"{name}_strides"] = strides
    return arrays


def read_archive(file, count):
    found = []
    with numpy.load(file) as arrays:
        for k in range(count):
            if f"out{k}_bf16" in arrays:
                found.append(torch.from_numpy(arrays[f"out{k}_bf16"].view(numpy.int16)).view(torch.bfloat16))
            else:
                found.append(torch.from_numpy(arrays[f"out{k}"]))
    return found


def difference(given, eager, wide, steps=8):
    """Words for what differs by more than rounding does, so many steps of the type, or None.

    What PyTorch's own results miss the wide ones by is rounding: ours may miss them by four times that, and
    by a few steps of the type. Truths and integers that follow from rounded numbers may differ here and there.
    """
    if given.dtype != eager.dtype or given.shape != eager.shape:
        return f"{given.dtype}{list(given.shape)} in place of {eager.dtype}{list(eager.shape)}"
    if not given.is_floating_point():
        wrong = (given != eager).sum().item()
        return f"{wrong} of {given.numel()} elements differ" if wrong > given.numel() // 500 else None
    ours, theirs, meant = given.double(), eager.double(), wide.double()
    exact = (ours == theirs) | (ours.isnan() & theirs.isnan()) | (ours == meant)
    finite = theirs.isfinite() & meant.isfinite() & ours.isfinite()
    wrong = (~exact & ~finite & ~(meant.isnan() & ours.isnan())).sum().item()
    if wrong > given.numel() // 500:
        return f"{wrong} of {given.numel()} elements are not finite where they must be"
    if not finite.any():
        return None
    scale = meant[finite].abs()
    step = torch.finfo(given.dtype).eps
    missed = (theirs - meant)[finite].abs()
    # The largest of what PyTorch misses by, in steps at the element.
    usual = (missed / (scale + scale.mean() + 1e-30)).max().item()
    allowed = (4 * usual + steps * step) * (scale + scale.mean() + 1e-30)
    # Where a comparison of rounded numbers goes the other way, PyTorch's own result is as good.
    away = torch.minimum((ours - meant)[finite].abs(), (ours - theirs)[finite].abs())
    wrong = ((away > allowed) & ~exact[finite]).sum().item()
    if wrong == 0:
        return None
    worst = (away / (scale + scale.mean() + 1e-30)).max().item()
    return f"{wrong} of {given.numel()} elements are off, the worst by {worst:.3g} of its size; PyTorch's by {usual:.3g}"
