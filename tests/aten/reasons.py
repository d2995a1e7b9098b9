"""Why Twinloom may differ from PyTorch: by contract, or because of what PyTorch's CPU does."""

import collections
import re

import torch

from drawing import without_underscore

# Random or undefined elements: type and shape are compared alone.
NOT_COMPARED = {"rand", "randn", "randint", "empty", "empty_like", "new_empty", "new_empty_strided", "empty_strided", "empty_permuted"}

# PyTorch's CPU has no kernel for these types, another device may: no question to ask.
LACKS = re.compile(r"not implemented for|Could not run|not supported for|does not support|isn't implemented|"
                   r"not yet supported|unsupported dtype|not currently supported|is not supported on CPU")


def refused_by_one_device(result):
    return isinstance(result, Exception) and LACKS.search(str(result)) is not None


def always(case):
    return True


def gives_16_bits(case):
    results = case.expected if isinstance(case.expected, list) else [case.expected]
    return any(isinstance(one, torch.Tensor) and one.dtype in (torch.float16, torch.bfloat16) for one in results)


def of_nothing(case):
    return case.positional[0].numel() == 0


def has_factor_0(case):
    return case.keywords.get("alpha") == 0


def is_not_finite(case):
    return any(tensor.dtype.is_floating_point and not tensor.isfinite().all() for tensor in case.tensors)


def has_equal(case):
    """Elements that a sort finds equal."""
    flat = case.positional[0].reshape(-1).double().nan_to_num(nan=float("inf"))
    return flat.unique().numel() < flat.numel()


def float_to_integer(case):
    asked = [case.keywords.get("dtype"), *case.positional]
    return (any(tensor.dtype.is_floating_point for tensor in case.tensors)
            and (any(isinstance(one, torch.dtype) and not one.is_floating_point for one in asked)
                 or any(not tensor.dtype.is_floating_point for tensor in case.tensors)))


# operators and kind: patterns of the whole word; words: to be found in what differs; applies: to the case; exact:
# whether the answer must be what PyTorch itself computes in f64, so that it is PyTorch that is off.
Reason = collections.namedtuple("Reason", "operators kind words text applies exact", defaults=[always, False])
EXACT = True
REASONS = [
    Reason(r"div.*|floor_divide|fmod|remainder", "runs", "ZeroDivisionError",
           "x div 0 and x mod 0 of integers are 0 by contract"),
    Reason("pow", "runs", "Integers to negative integer powers",
           "an integer to a negative power is 0, 1 or -1 by contract"),
    Reason(".*", "values", "want", "a float becomes an integer by saturation, NaN becomes 0", float_to_integer),
    Reason("div|floor_divide", "values", "want", "PyTorch's CPU rounds the steps of the formula to 16 bits",
           gives_16_bits, EXACT),
    Reason("convolution.*", "values", "nan", "what lies outside counts as 0, and 0 times infinity is NaN", is_not_finite),
    Reason("convolution.*", "values", "want", "PyTorch's CPU rounds partial sums to 16 bits, Twinloom the last",
           gives_16_bits, EXACT),
    Reason("convolution.*", "values", "want", "the same, where nothing in f64 says how far off elements beside infinities are",
           lambda case: gives_16_bits(case) and is_not_finite(case)),
    Reason("convolution.*", "values", "want", "sums in another order", always, EXACT),
    Reason("convolution", "runs", "Output size is too small", "a transposed convolution may give nothing, as in others of PyTorch's kernels"),
    Reason("addmm|baddbmm", "values", "want nan", "a product with the factor 0 is left out", has_factor_0),
    Reason("convolution_backward", "results", "got None", "what the mask does not ask for is not given"),
    Reason("gelu|silu", "values", "want nan got -0.0", "the limit at -inf is -0"),
    Reason("gelu", "values", "want nan got inf", "the limit at infinity is infinity"),
    Reason("cumsum|cumprod", "runs", "Bad in-place call", "a type that is asked for is what is computed in, in place too"),
    Reason("i0", "values", "want nan got inf", "the limit at infinity is infinity"),
    Reason("i0", "values", "want inf", "PyTorch overflows before the result does"),
    Reason(r"(prims\.)?prod.*|cumprod", "values", "want", "PyTorch's CPU rounds each partial product to 16 bits, Twinloom the last",
           gives_16_bits, EXACT),
    Reason(r"(prims\.)?prod.*|cumprod", "values", "want", "products in another order overflow elsewhere", always, EXACT),
    Reason(r"cumsum|embedding_dense_backward|index_add|_?u?n?s?a?f?e?_?index_put|scatter.*|"
           "_unsafe_masked_index_put_accumulate", "values", "want",
           "PyTorch's CPU rounds each partial sum to 16 bits, Twinloom the last", gives_16_bits, EXACT),
    Reason("add|sub|rsub", "values", "want", "PyTorch's CPU rounds a number to the 16-bit type, CUDA and the contract "
           "keep it", gives_16_bits, EXACT),
    Reason("_?log_softmax.*|logsumexp", "values", "want", "PyTorch's CPU rounds the steps of the formula to 16 bits",
           gives_16_bits, EXACT),
    Reason("logit", "values", "want", "PyTorch's CPU rounds the steps of the formula to 16 bits", gives_16_bits),
    Reason(".*(batch|group|layer)_norm.*", "values", "want",
           "PyTorch folds weight, bias, mean and rstd into x * scale + shift, which cancels", always, EXACT),
    Reason(".*batch_norm.*", "refused", "one number a channel|elements", "PyTorch's CPU looks at no size of the parameters"),
    Reason(".*norm_backward", "values", "want", "terms of f32 cancel, in PyTorch's order too", always, EXACT),
    Reason("native_layer_norm", "values", "want 0.0 got nan", "the mean of nothing is NaN by contract"),
    Reason("var_mean.correction", "values", "want nan got -?inf",
           "the mean of what holds an infinity is that infinity; PyTorch's running mean is NaN"),
    Reason("einsum.default", "values", "want", "PyTorch multiplies two tensors after the other, and rounds to 16 bits between them",
           gives_16_bits, EXACT),
    Reason("diff", "values", "want", "differences of differences stay in f32 in mode fused", gives_16_bits, EXACT),
    Reason("_?(adaptive_)?avg_pool.*", "values", "want", "PyTorch's CPU rounds partial sums to 16 bits, Twinloom the last",
           gives_16_bits, EXACT),
    Reason("_?scaled_dot_product_.*attention.*", "values", "want", "PyTorch's CPU rounds weights to 16 bits before it multiplies values",
           gives_16_bits, EXACT),
    Reason("scaled_dot_product_attention", "refused", "not both", "a mask beside is_causal is an error by PyTorch's documentation; "
           "its flash kernel of CPUs takes both"),
    Reason("_scaled_dot_product_.*_backward", "refused", "needs a mask of", "PyTorch checks the type of the mask in the forward operator alone"),
    Reason(".*", "runs", "INTERNAL ASSERT FAILED", "PyTorch fails, and asks for a report"),
    Reason("cummax|cummin", "refused", "axis .* is out of range", "PyTorch checks no axis of a tensor without elements",
           of_nothing),
    Reason("logsumexp", "runs", "doesn't match the broadcast shape", "PyTorch's kernel fails for dim=[]"),
    Reason("embedding_dense_backward", "refused", "out of range",
           "PyTorch's CPU drops a row whose index is out of range; by contract it is an Error"),
    Reason("embedding|index|index_put|_unsafe_index.*|index_select|gather", "runs",
           "axis dim should be positive|out of bounds|out of DATA bounds", "a result without elements reads no index"),
    Reason("index_add|index_copy|index_put|scatter.*", "refused", "out of range for size 0|expected 0 <= index < 0",
           "an index into nothing is out of range"),
    Reason("_unsafe_masked_index.*", "refused", "out of range for size 0|index < 0|the text says|the source is|an index must be",
           "of a tensor without elements PyTorch gives the fill in a shape of its own, whatever the mask", of_nothing),
    Reason(r"(prims\.)?(amax|amin)|max.*|min.*|argmax|argmin|linalg_vector_norm", "runs", "non-zero size|no identity|have an identity",
           "a result without elements needs no value over nothing"),
    Reason("cumsum|cumprod", "refused", "does not take|does not become b8", "truths have no running sum; PyTorch's CPU has none either, but "
           "for tensors without elements"),
    Reason("index|index_put|_unsafe_index.*", "refused", "an index must be .* it is u8", "a mask of u8 is deprecated in PyTorch"),
    Reason("index|index_put|_unsafe_index.*", "refused", "depends on data",
           "how many elements a mask takes depends on data, a result's size must not"),
    Reason("gelu_backward", "runs", "itensor_view|primitive descriptor",
           "oneDNN, which PyTorch's CPU calls, promotes no types and broadcasts no shapes"),
    Reason("cosh|sinh", "values", "want -?inf", "PyTorch overflows before the result does", always, EXACT),
    Reason("_unsafe_index_put", "refused", "an index must be", "PyTorch checks no type of an unsafe index"),
    Reason("masked_fill", "runs", "without overflow", "a tensor's value is cast; a number must fit"),
    Reason("mean.*", "values", "want", "PyTorch's CPU adds before it rounds to 16 bits", gives_16_bits, EXACT),
    Reason(".*_backward", "values", "want", "PyTorch's CPU rounds other steps of the formula", gives_16_bits, EXACT),
    Reason("gelu_backward", "values", "want", "PyTorch's tanh cancels in f32 where 1 is added", always, EXACT),
    Reason("silu_backward", "values", "want nan got", "the limit at infinity"),
    Reason("clamp", "values", "got nan", "a bound of NaN gives NaN; PyTorch's loop over single elements passes it by"),
    Reason("index_add|scatter.*", "refused", "does not fit", "a number must fit the type, also where no element is written"),
    Reason("topk|kthvalue|median.dim|nanmedian.dim", "values", "want", "which of equal elements it is PyTorch leaves open; it is the "
           "first, as in a stable sort", has_equal),
    Reason("median|nanmedian", "refused", "no elements", "of no integers PyTorch gives the least number of the type", of_nothing),
    Reason("pow", "refused", "does not take the types", "truths have no powers; PyTorch's CPU gives one for the exponent True"),
]


def reason_for(case, kind, words, is_exact):
    base, *overload = case.operator.split(".")
    operator = ".".join([without_underscore(base), *overload])
    for reason in REASONS:
        if (re.fullmatch(reason.operators, operator) and re.fullmatch(reason.kind, kind)
                and re.search(reason.words, words) and reason.applies(case) and (not reason.exact or is_exact())):
            return reason.text
    return None
