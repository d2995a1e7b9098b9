"""PyTorch's own samples of its operators (OpInfo), compiled, beside eager: what is wrong, and what was left and why."""
import collections
import dataclasses
import functools
import types

import torch
import twinloom
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.backends.debugging import boxed_nop
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8,
          torch.uint8, torch.bool)
# NUMERICS.md: a relative error beside what eager rounds, and one near 0; two steps of 16-bit types.
RTOL = {torch.float64: 1e-7, torch.float32: 1e-4, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
ATOL = {torch.float64: 1e-8, torch.float32: 1e-5, torch.float16: 1e-3, torch.bfloat16: 1e-2}


@dataclasses.dataclass
class Outcome:
    """What became of samples."""

    tried: int = 0  # samples that PyTorch can do
    compiled: int = 0  # of them with a subgraph of Twinloom at least
    left: collections.Counter = dataclasses.field(default_factory=collections.Counter)  # (operator, why) -> nodes
    wrong: list = dataclasses.field(default_factory=list)  # what, in words


# Of whose gradient PyTorch traces `_unique` as one element, however many there are.
MISTRACED = {"index_fill"}


@functools.cache
def operators():
    """Name -> OpInfo, of those whose results are defined."""
    named = {f"{op.name}.{op.variant_test_name}".rstrip("."): op for op in op_db}
    return {name: op for name, op in named.items() if "empty" not in name and name not in MISTRACED}


def samples_of(op, device, dtype):
    """The same each time."""
    torch.manual_seed(0)
    if dtype not in op.supported_dtypes(device):
        return []
    differentiable = op.supports_autograd and dtype in op.supported_backward_dtypes(device)
    return list(op.sample_inputs(device, dtype, requires_grad=differentiable))


def fresh(function, name):
    """A function that Dynamo has not seen, of (input, args, kwargs)."""
    def call(input, args, kwargs):
        return function(input, *args, **kwargs)

    code = call.__code__.replace(co_name="".join(letter if letter.isalnum() else "_" for letter in name))
    return types.FunctionType(code, call.__globals__, code.co_name, None, call.__closure__)


def copy_of(sample, change=torch.clone):
    def change_one(value):
        if not isinstance(value, torch.Tensor):
            return value
        return change(value.detach()).requires_grad_(value.requires_grad)

    return pytree.tree_map(change_one, (sample.input, sample.args, sample.kwargs))


def tensors_in(value):
    return [one for one in pytree.tree_leaves(value) if isinstance(one, torch.Tensor)]


def cotangent(tensor, dtype):
    """Of a result, with values of a type that may be narrower."""
    if not tensor.is_floating_point():
        dtype = tensor.dtype
    return torch.cos(torch.arange(tensor.numel(), device=tensor.device)).to(dtype).to(tensor.dtype).view(tensor.shape)


def both_ways(function, arguments, dtype):
    """Results, and the gradients of all arguments for cotangents with values of that type."""
    torch.manual_seed(1)
    results = tensors_in(function(*arguments))
    differentiable = [one for one in results if one.requires_grad]
    leaves = [one for one in tensors_in(arguments) if one.requires_grad]
    if not differentiable or not leaves:
        return results
    gradients = torch.autograd.grad(differentiable, leaves, [cotangent(one, dtype) for one in differentiable],
                                    allow_unused=True)
    return [one.detach() for one in results] + list(gradients)


def difference(given, wanted, wide):
    """What is wrong with a result, in words; nothing where it is as near to the wide one as eager's, or to eager's."""
    if given is None or wanted is None:
        return None if given is wanted else f"{'no' if given is None else 'a'} gradient"
    if (given.dtype, given.shape) != (wanted.dtype, wanted.shape):
        return f"{given.dtype} {list(given.shape)} where eager gives {wanted.dtype} {list(wanted.shape)}"
    try:
        torch.testing.assert_close(given, wanted, rtol=RTOL.get(given.dtype, 0), atol=ATOL.get(given.dtype, 0), equal_nan=True)
        return None
    except AssertionError as error:
        words = " ".join(str(error).split())
    if wide is None or wide.shape != given.shape or not given.is_floating_point():
        return words
    eager_error = torch.nan_to_num((wanted.double() - wide).abs(), nan=0.0, posinf=0.0)  # where eager overflows
    bound = 2 * eager_error + RTOL[given.dtype] * wide.abs() + ATOL[given.dtype]
    if given.element_size() == 2 and wide.numel():
        # Sums of what eager rounded to 16 bits and we did not, or the other way round.
        largest = torch.nan_to_num(wanted.double().abs(), posinf=0.0).max()
        bound = bound + torch.finfo(given.dtype).eps * largest
    near = (given == wanted) | (given == wide.to(given.dtype)) | ((given.double() - wide).abs() <= bound) | (
        given.isnan() & (wide.isnan() | wanted.isnan()))
    return None if bool(near.all()) else words


def widely(op, sample, dtype):
    """Results and gradients in f64; nothing where there are none."""
    try:
        wide = copy_of(sample, lambda one: one.double() if one.is_floating_point() else one.clone())
        return both_ways(fresh(op, "wide"), wide, dtype)
    except Exception:  # noqa: BLE001, whatever an operator raises that has no f64
        return None


def traced_alone(op, name, sample, dtype):
    """What the graph gives that Twinloom is handed, run by PyTorch: its own decompositions may differ from eager."""
    left = aot_autograd(fw_compiler=boxed_nop, decompositions=twinloom._backend.decompositions(),
                        partition_fn=min_cut_rematerialization_partition)
    return both_ways(torch.compile(fresh(op, name), backend=left, dynamic=False), copy_of(sample), dtype)


def try_sample(op, name, sample, dtype, outcome):
    """Adds what becomes of one, forward and backward, to an outcome."""
    try:
        wanted = both_ways(fresh(op, name), copy_of(sample), dtype)
    except Exception:  # noqa: BLE001, PyTorch cannot do it
        return
    found = []
    twinloom._backend._listeners.append(found)
    try:
        run = torch.compile(fresh(op, name), backend=twinloom.backend, dynamic=False)
        given = both_ways(run, copy_of(sample), dtype)
    except Exception as error:  # noqa: BLE001, PyTorch's or ours, which is found out
        given = f"{type(error).__name__}: {error}"
    finally:
        twinloom._backend._listeners.remove(found)
    outcome.tried += 1
    outcome.compiled += any(one.kernels for one in found)
    outcome.left.update((left.operator, left.why) for one in found for left in one.left)
    words = unlike(given, wanted, op, sample, dtype)
    if words is None:
        return
    try:
        alone = traced_alone(op, name, sample, dtype)
    except Exception:  # noqa: BLE001, PyTorch cannot trace it
        return
    if unlike(given, alone, op, sample, dtype) is not None:
        outcome.wrong.append(f"{describe(name, sample)}: {words[:300]}")


# These leave open which of equal elements comes first; the number is the position of `dim` behind the input.
LEFT_OPEN = {"argsort": 0, "kthvalue": 1, "median": 0, "msort": 0, "nanmedian": 0, "sort": 0, "topk": 1}


def is_left_open(op, sample, k, given, wanted):
    """Whether result k differs by which of equal elements is taken: another index of an equal one, or its gradient."""
    if op.name not in LEFT_OPEN or given.shape != wanted.shape or sample.input.unique().numel() == sample.input.numel():
        return False
    if given.is_floating_point():
        return k > 0  # the values are the first result
    if k == 0 and op.name != "argsort":
        return False
    position = LEFT_OPEN[op.name]
    dim = sample.kwargs.get("dim", sample.args[position] if len(sample.args) > position else -1)
    if given.dim() < sample.input.dim():
        given, wanted = given.unsqueeze(dim), wanted.unsqueeze(dim)
    one, other = sample.input.gather(dim, given), sample.input.gather(dim, wanted)
    return torch.equal(one.nan_to_num(), other.nan_to_num())


def unlike(given, wanted, op, sample, dtype):
    """What is wrong with results, in words; nothing where all are right."""
    if isinstance(given, str):
        return given
    if len(given) != len(wanted):
        return f"{len(given)} results where eager gives {len(wanted)}"
    for k, (one, other) in enumerate(zip(given, wanted)):
        words = difference(one, other, None)
        if words is None or is_left_open(op, sample, k, one, other):
            continue
        wide = widely(op, sample, dtype) or [None] * len(given)
        if difference(one, other, wide[k]) is not None:
            return f"result {k}: {words}"
    return None


def describe(name, sample):
    def spell(value):
        if isinstance(value, torch.Tensor):
            return f"{str(value.dtype)[6:]}{list(value.shape)}"
        return value

    return f"{name}{pytree.tree_map(spell, (sample.input, *sample.args))} {pytree.tree_map(spell, sample.kwargs)}"
