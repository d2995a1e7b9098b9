"""Kernels as users write them, for breadth.py: functions in PyTorch, each with its inputs.

A case is a row of CASES: name, kind, inputs and function. Sizes are those of a GPU; `many` is a size that a CPU has a
sixteenth of, so that a run takes some milliseconds there too. Nothing here is chosen because a compiler does well or badly
on it. A function with `trains` computes gradients too, of all inputs that are floats, for a loss that is the sum of its
results.
"""
import dataclasses
import math

F64, F32, F16, BF16 = "float64", "float32", "float16", "bfloat16"
I64, I32, I8, U8, B8 = "int64", "int32", "int8", "uint8", "bool"
MEBI = 1 << 20


@dataclasses.dataclass
class Input:
    shape: tuple
    dtype: str = F32
    below: int = 0  # integers are 0 to below - 1
    channels_last: bool = False


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    inputs: list
    function: object
    trains: bool = False


class Sizes:
    """On a CPU a sixteenth of what is `many`; small ones, to test, some more."""

    def __init__(self, less):
        self.less = less

    def many(self, size):
        return max(1, size // self.less)


def cases(torch, sizes):
    """All cases, in order."""
    makers = [pointwise, arithmetic, rows, masks, axes, columns, windows, scans, sorts, transpositions, indexed, losses, norms,
              optimisers, narrow, small, products]
    return [case for maker in makers for case in maker(torch, torch.nn.functional, sizes.many)]


def pointwise(torch, F, many):
    def relu_squared(x, y):
        return torch.relu(x + y) ** 2, x + y

    return [
        Case("add_relu_f32", "pointwise", [Input((many(64 * MEBI),)), Input((many(64 * MEBI),))],
             lambda x, y: torch.relu(x + y)),
        Case("relu_squared_two_results_bf16", "pointwise",
             [Input((many(16384), 4096), BF16), Input((many(16384), 4096), BF16)], relu_squared),
        Case("scale_rows_bias_columns_bf16", "pointwise",
             [Input((many(16384), 4096), BF16), Input((many(16384), 1), BF16), Input((4096,), BF16)],
             lambda x, scale, bias: x * scale + bias),
        Case("clamp_lerp_f16", "pointwise", [Input((many(64 * MEBI),), F16), Input((many(64 * MEBI),), F16)],
             lambda x, y: torch.lerp(x, y, 0.25).clamp(-1, 1)),
        Case("channels_affine_f32", "pointwise",
             [Input((many(64), 256, 56, 56)), Input((256, 1, 1)), Input((256, 1, 1))],
             lambda x, scale, bias: torch.relu(x * scale + bias)),
        Case("channels_last_affine_f16", "pointwise",
             [Input((many(64), 256, 56, 56), F16, channels_last=True), Input((256, 1, 1), F16), Input((256, 1, 1), F16)],
             lambda x, scale, bias: torch.relu(x * scale + bias)),
        Case("compare_where_f64", "pointwise", [Input((many(16 * MEBI),), F64), Input((many(16 * MEBI),), F64)],
             lambda x, y: torch.where(x > y, x - y, y * 0.5)),
    ]


def arithmetic(torch, F, many):
    def black_scholes(spot, strike, years):
        volatility, rate = 0.2, 0.01
        root = volatility * torch.sqrt(years)
        d1 = (torch.log(spot / strike) + (rate + volatility**2 / 2) * years) / root
        normal = [0.5 * (1 + torch.erf(d / math.sqrt(2))) for d in (d1, d1 - root)]
        return spot * normal[0] - strike * torch.exp(-rate * years) * normal[1]

    def positive(function):
        return lambda *inputs: function(*(x.abs() + 0.5 for x in inputs))

    def haversine(a, b, c, d):
        h = torch.sin((c - a) / 2) ** 2 + torch.cos(a) * torch.cos(c) * torch.sin((d - b) / 2) ** 2
        return 2 * torch.asin(torch.sqrt(h.clamp(0, 1)))

    def position_table(x):
        at = torch.arange(x.shape[0], device=x.device).unsqueeze(1)
        rate = torch.exp(torch.arange(0, x.shape[1] // 2, device=x.device) * (-2 * math.log(10000.0) / x.shape[1]))
        return x + torch.cat([torch.sin(at * rate), torch.cos(at * rate)], 1)

    flat = Input((many(32 * MEBI),))
    return [
        Case("swiglu_bf16", "arithmetic", [Input((many(8192), 11008), BF16), Input((many(8192), 11008), BF16)],
             lambda gate, up: F.silu(gate) * up),
        Case("mish_f32", "arithmetic", [flat], F.mish),
        Case("gelu_gate_f32", "arithmetic", [Input((many(16384), 4096))],
             lambda x: F.gelu(x[:, :2048]) * x[:, 2048:]),
        Case("black_scholes_f32", "arithmetic", [flat] * 3, positive(black_scholes)),
        Case("haversine_f32", "arithmetic", [flat] * 4, haversine),
        Case("position_table_f32", "arithmetic", [Input((many(32768), 1024))], position_table),
        Case("logit_sigmoid_pow_f32", "arithmetic", [flat], lambda x: torch.sigmoid(x) ** 1.5 * torch.tanh(x)),
        Case("silu_mul_f16", "arithmetic", [Input((many(64 * MEBI),), F16)], lambda x: F.silu(x) * 1.7),
    ]


def rows(torch, F, many):
    def hugging_face_rms(x, weight):
        y = x.float()
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
        return weight * y.to(x.dtype)

    def quantized(x):
        scale = x.float().abs().amax(-1, keepdim=True) / 127
        return torch.round(x / scale).clamp(-128, 127).to(torch.int8), scale

    def layer_norm(x, weight, bias):
        return F.layer_norm(x, weight.shape, weight, bias)

    def residual_norm(x, residual, weight, bias):
        both = x + residual
        return both, layer_norm(both, weight, bias)

    def softmax(x):
        return torch.softmax(x, -1)

    return [
        Case("softmax_64_f32", "rows", [Input((many(262144), 64))], softmax),
        Case("softmax_256_bf16", "rows", [Input((many(131072), 256), BF16)], softmax),
        Case("softmax_1000_f16", "rows", [Input((many(32768), 1000), F16)], softmax),
        Case("softmax_4096_f32", "rows", [Input((many(8192), 4096))], softmax),
        Case("softmax_12288_bf16", "rows", [Input((many(4096), 12288), BF16)], softmax),
        Case("log_softmax_50257_f32", "rows", [Input((many(2048), 50257))], lambda x: torch.log_softmax(x, -1)),
        Case("softmax_300000_f32", "rows", [Input((many(256), 300000))], softmax),
        Case("layer_norm_768_f32", "rows", [Input((many(65536), 768)), Input((768,)), Input((768,))], layer_norm),
        Case("layer_norm_5120_bf16", "rows",
             [Input((many(16384), 5120), BF16), Input((5120,), BF16), Input((5120,), BF16)], layer_norm),
        Case("residual_layer_norm_1024_bf16", "rows",
             [Input((many(65536), 1024), BF16)] * 2 + [Input((1024,), BF16)] * 2, residual_norm),
        Case("rms_norm_3072_bf16", "rows", [Input((many(32768), 3072), BF16), Input((3072,), BF16)], hugging_face_rms),
        Case("row_sum_100_f32", "rows", [Input((many(MEBI), 100))], lambda x: x.sum(-1)),
        Case("row_max_333_f16", "rows", [Input((many(262144), 333), F16)], lambda x: x.amax(-1)),
        Case("row_mean_1000000_bf16", "rows", [Input((64, many(4 * MEBI)), BF16)], lambda x: x.mean(-1)),
        Case("argmax_32000_f32", "rows", [Input((many(4096), 32000))], lambda x: x.argmax(-1)),
        Case("l2_normalise_2048_f32", "rows", [Input((many(32768), 2048))], lambda x: F.normalize(x, dim=-1)),
        Case("logsumexp_16384_f32", "rows", [Input((many(4096), 16384))], lambda x: torch.logsumexp(x, -1)),
        Case("mean_max_min_2048_f32", "rows", [Input((many(32768), 2048))],
             lambda x: (x.mean(-1), x.amax(-1), x.amin(-1))),
        Case("quantize_rows_4096_bf16", "rows", [Input((many(16384), 4096), BF16)], quantized),
    ]


def masks(torch, F, many):
    def causal(x):
        size = x.shape[-1]
        at = torch.arange(size, device=x.device)
        return torch.softmax(torch.where(at[None, :] <= at[:, None], x, float("-inf")), -1)

    def mean_pool(x, mask):
        kept = mask.unsqueeze(-1).to(x.dtype)
        return (x * kept).sum(1) / kept.sum(1).clamp(min=1)

    return [
        Case("softmax_key_mask_f32", "masks", [Input((many(32), 12, 512, 512)), Input((many(32), 1, 1, 512), B8)],
             lambda x, mask: torch.softmax(x.masked_fill(mask, -1e9), -1)),
        Case("softmax_causal_bf16", "masks", [Input((many(64), 1024, 1024), BF16)], causal),
        Case("softmax_bias_f32", "masks", [Input((many(16), 16, 512, 512)), Input((1, 16, 512, 512))],
             lambda x, bias: torch.softmax(x * 0.125 + bias, -1)),
        Case("masked_mean_pool_f32", "masks", [Input((many(256), 512, 768)), Input((many(256), 512), B8)], mean_pool),
        Case("dropout_residual_bf16", "masks", [Input((many(16384), 4096), BF16), Input((many(16384), 4096), B8),
                                                Input((many(16384), 4096), BF16)],
             lambda x, mask, residual: residual + x * mask * (1 / 0.9)),
    ]


def axes(torch, F, many):
    return [
        Case("group_norm_f32", "axes", [Input((many(16), 320, 64, 64)), Input((320,)), Input((320,))],
             lambda x, weight, bias: F.group_norm(x, 32, weight, bias)),
        Case("channel_statistics_f32", "axes", [Input((many(64), 256, 56, 56))],
             lambda x: torch.var_mean(x, (0, 2, 3), correction=0)),
        Case("instance_norm_f32", "axes", [Input((many(32), 64, 128, 128))], F.instance_norm),
        Case("sum_first_and_last_f32", "axes", [Input((many(128), 512, 1024))], lambda x: x.sum((0, 2))),
        Case("sum_middle_f16", "axes", [Input((many(256), 197, 768), F16)], lambda x: x.mean(1)),
        Case("global_average_pool_last_f16", "axes", [Input((many(256), 2048, 7, 7), F16, channels_last=True)],
             lambda x: x.mean((2, 3))),
        Case("full_mean_bf16", "axes", [Input((many(128 * MEBI),), BF16)], lambda x: x.float().mean()),
    ]


def columns(torch, F, many):
    def bias_gradient(gradient):
        return gradient.sum((0, 1)), gradient.permute(2, 0, 1).reshape(gradient.shape[2], -1)

    return [
        Case("column_sum_1024_bf16", "columns", [Input((many(131072), 1024), BF16)], lambda x: x.float().sum(0)),
        Case("column_sum_65536_f32", "columns", [Input((many(2048), 65536))], lambda x: x.sum(0)),
        Case("column_max_f32", "columns", [Input((many(16384), 4096))], lambda x: x.amax(0)),
        Case("softmax_first_axis_f32", "columns", [Input((512, many(65536)))], lambda x: torch.softmax(x, 0)),
        Case("column_sum_narrow_f32", "columns", [Input((many(4 * MEBI), 16))], lambda x: x.sum(0)),
        Case("bias_gradient_permuted_f32", "columns", [Input((64, many(512), 3072 // 4))], bias_gradient),
    ]


def windows(torch, F, many):
    def pooled(x):
        n, c, h, w = x.shape
        return x.view(n, c, h // 2, 2, w // 2, 2).mean((3, 5))

    def patches(x):
        n, c, h, w = x.shape
        return x.view(n, c, h // 16, 16, w // 16, 16).permute(0, 2, 4, 1, 3, 5).reshape(n, -1, c * 256)

    return [
        Case("average_2x2_f32", "windows", [Input((many(128), 64, 112, 112))], pooled),
        Case("patches_16_f32", "windows", [Input((many(128), 3, 224, 224))], patches),
        Case("pixel_shuffle_f16", "windows", [Input((many(32), 256, 64, 64), F16)], lambda x: F.pixel_shuffle(x, 2)),
        Case("stencil_3_f32", "windows", [Input((many(8192), 8192))],
             lambda x: 0.25 * x[:, 2:] + 0.5 * x[:, 1:-1] + 0.25 * x[:, :-2]),
        Case("pad_image_f32", "windows", [Input((many(128), 3, 224, 224))], lambda x: F.pad(x, (3, 3, 3, 3))),
        Case("shift_tokens_bf16", "windows", [Input((many(64), 1024, 512), BF16)],
             lambda x: torch.roll(x, 1, 1) * 0.5 + x * 0.5),
    ]


def scans(torch, F, many):
    return [
        Case("cumsum_64_f32", "scans", [Input((many(MEBI), 64))], lambda x: x.cumsum(-1)),
        Case("cumsum_2048_bf16", "scans", [Input((many(16384), 2048), BF16)], lambda x: x.cumsum(-1)),
        Case("cumsum_first_axis_f32", "scans", [Input((many(16384), 2048))], lambda x: x.cumsum(0)),
        Case("cumsum_middle_axis_f32", "scans", [Input((many(64), 1024, 512))], lambda x: x.cumsum(1)),
        Case("cumsum_flat_f32", "scans", [Input((many(32 * MEBI),))], lambda x: x.cumsum(0)),
        Case("positions_of_mask_i64", "scans", [Input((many(16384), 2048), B8)],
             lambda mask: mask.long().cumsum(-1) * mask.long() + 1),
        Case("discounted_returns_f32", "scans", [Input((many(32768), 1000))], lambda x: x.flip(1).cumsum(1).flip(1)),
    ]


def sorts(torch, F, many):
    def experts_of_tokens(scores):
        """Two of eight for each token, and all tokens by the number of theirs."""
        weights, chosen = torch.topk(torch.softmax(scores, -1), 2)
        return weights, torch.argsort(chosen.flatten(), stable=True)

    return [
        Case("topk_50_of_vocabulary_f32", "sorts", [Input((many(1024), 50257))], lambda x: torch.topk(x, 50)),
        Case("sort_1024_f32", "sorts", [Input((many(16384), 1024))], lambda x: torch.sort(x, stable=True)),
        Case("sort_first_axis_f32", "sorts", [Input((300, many(65536)))], lambda x: torch.sort(x, dim=0, stable=True)),
        Case("argsort_flat_f32", "sorts", [Input((many(16 * MEBI),))], lambda x: torch.argsort(x, stable=True)),
        Case("median_200_bf16", "sorts", [Input((many(65536), 200), BF16)], lambda x: torch.median(x, -1).values),
        Case("experts_of_tokens_f32", "sorts", [Input((many(131072), 8))], experts_of_tokens),
        Case("small_sort_f32", "small", [Input((16, 64))], lambda x: torch.sort(x, stable=True)),
    ]


def transpositions(torch, F, many):
    def split_heads(x):
        n, t, _ = x.shape
        return tuple(part.view(n, t, 16, 64).transpose(1, 2).contiguous() for part in x.split(1024, -1))

    return [
        Case("transpose_f32", "transpositions", [Input((many(16384), 8192))], lambda x: x.t().contiguous()),
        Case("transpose_u8", "transpositions", [Input((many(32768), 16384), U8, 256)], lambda x: x.t().contiguous()),
        Case("transpose_f16", "transpositions", [Input((many(16384), 16384), F16)], lambda x: x.t().contiguous()),
        Case("transpose_i64", "transpositions", [Input((many(8192), 8192), I64, 1000)], lambda x: x.t() + 1),
        Case("heads_permuted_f16", "transpositions", [Input((many(64), 512, 16, 128), F16)],
             lambda x: x.permute(0, 2, 1, 3).contiguous()),
        Case("keys_transposed_bf16", "transpositions", [Input((many(64), 512, 16, 64), BF16)],
             lambda x: x.permute(0, 2, 3, 1).contiguous()),
        Case("channels_to_last_f32", "transpositions", [Input((many(64), 256, 56, 56))],
             lambda x: x.to(memory_format=torch.channels_last)),
        Case("split_heads_bf16", "transpositions", [Input((many(32), 1024, 3072), BF16)], split_heads),
    ]


def indexed(torch, F, many):
    def rotary(x, cosine, sine, positions):
        cosine, sine = cosine[positions].unsqueeze(1), sine[positions].unsqueeze(1)
        half = x.shape[-1] // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * cosine + turned * sine

    def embedding_gradient(gradient, index):
        return torch.ops.aten.embedding_dense_backward(gradient, index, 32000, -1, False)

    tokens = Input((many(64), 1024), I64, 32000)
    return [
        Case("embedding_positions_f16", "indexed", [Input((32000, 768), F16), Input((1024, 768), F16), tokens],
             lambda table, at, index: F.embedding(index, table) + at),
        Case("gather_columns_f32", "indexed", [Input((many(65536), 1000)), Input((many(65536), 64), I64, 1000)],
             lambda x, index: torch.gather(x, 1, index)),
        Case("index_add_rows_f32", "indexed",
             [Input((100000, 128)), Input((many(524288),), I64, 100000), Input((many(524288), 128))],
             lambda x, index, source: x.index_add(0, index, source)),
        Case("embedding_gradient_f32", "indexed", [Input((many(16384), 512)), Input((many(16384),), I64, 32000)],
             embedding_gradient),
        Case("scatter_add_f32", "indexed", [Input((1024, 1024)), Input((1024, many(65536)), I64, 1024),
                                            Input((1024, many(65536)))],
             lambda x, index, source: x.scatter_add(1, index, source)),
        Case("rotary_bf16", "indexed", [Input((many(16), 32, 1024, 128), BF16), Input((2048, 128), BF16),
                                        Input((2048, 128), BF16), Input((many(16), 1024), I64, 2048)], rotary),
        Case("bag_of_rows_f32", "indexed", [Input((100000, 128)), Input((many(65536), 32), I64, 100000)],
             lambda table, index: table[index].mean(1)),
        Case("one_hot_f32", "indexed", [Input((many(65536),), I64, 1000)], lambda index: F.one_hot(index, 1000).float()),
    ]


def losses(torch, F, many):
    return [
        Case("cross_entropy_bf16", "losses", [Input((many(8192), 50257), BF16), Input((many(8192),), I64, 50257)],
             F.cross_entropy, trains=True),
        Case("cross_entropy_smoothed_f32", "losses", [Input((many(8192), 10000)), Input((many(8192),), I64, 10000)],
             lambda x, target: F.cross_entropy(x, target, label_smoothing=0.1), trains=True),
        Case("binary_cross_entropy_f32", "losses", [Input((many(16 * MEBI),)), Input((many(16 * MEBI),), B8)],
             lambda x, target: F.binary_cross_entropy_with_logits(x, target.float()), trains=True),
        Case("smooth_l1_f32", "losses", [Input((many(16 * MEBI),)), Input((many(16 * MEBI),))], F.smooth_l1_loss,
             trains=True),
        Case("divergence_f32", "losses", [Input((many(8192), 4096)), Input((many(8192), 4096))],
             lambda x, y: F.kl_div(torch.log_softmax(x, -1), torch.log_softmax(y, -1), reduction="batchmean",
                                   log_target=True)),
        Case("cosine_embedding_f32", "losses", [Input((many(65536), 512)), Input((many(65536), 512))],
             lambda x, y: (1 - F.cosine_similarity(x, y, -1)).mean(), trains=True),
    ]


def norms(torch, F, many):
    def rms_norm(x, weight):
        return F.rms_norm(x, weight.shape, weight, 1e-6)

    def layer_norm(x, weight, bias):
        return F.layer_norm(x, weight.shape, weight, bias)

    image = [Input((many(64), 128, 28, 28)), Input((128,)), Input((128,))]
    return [
        Case("layer_norm_trained_1024_f32", "norms", [Input((many(32768), 1024)), Input((1024,)), Input((1024,))],
             layer_norm, trains=True),
        Case("rms_norm_trained_4096_bf16", "norms", [Input((many(16384), 4096), BF16), Input((4096,), BF16)], rms_norm,
             trains=True),
        Case("batch_norm_trained_f32", "norms", image,
             lambda x, weight, bias: torch.relu(F.batch_norm(x, None, None, weight, bias, training=True)), trains=True),
        Case("group_norm_trained_f32", "norms", image, lambda x, weight, bias: F.group_norm(x, 16, weight, bias),
             trains=True),
        Case("softmax_trained_512_f32", "norms", [Input((many(131072), 512))], lambda x: torch.softmax(x, -1) ** 2,
             trains=True),
    ]


def optimisers(torch, F, many):
    def adamw(parameter, gradient, first, second):
        first = first * 0.9 + gradient * 0.1
        second = second.abs() * 0.999 + gradient * gradient * 0.001
        update = (first / 0.1) / ((second / 0.001).sqrt() + 1e-8)
        return parameter * (1 - 1e-5) - 1e-3 * update, first, second

    def momentum(parameter, gradient, buffer):
        buffer = 0.9 * buffer + gradient.float()
        return (parameter.float() - 0.01 * buffer).to(parameter.dtype), buffer

    def clipped(*gradients):
        norm = torch.stack([g.float().pow(2).sum() for g in gradients]).sum().sqrt()
        scale = (1.0 / (norm + 1e-6)).clamp(max=1.0)
        return tuple(g * scale for g in gradients)

    flat = Input((many(16 * MEBI),))
    return [
        Case("adamw_f32", "optimisers", [flat] * 4, adamw),
        Case("momentum_bf16", "optimisers",
             [Input((many(32 * MEBI),), BF16), Input((many(32 * MEBI),), BF16), Input((many(32 * MEBI),))], momentum),
        Case("clip_gradients_f32", "optimisers",
             [Input((many(4096), 1024)), Input((1024,)), Input((many(16384), 512)), Input((4096, many(1024)))], clipped),
    ]


def narrow(torch, F, many):
    def normalised(image):
        return (image.permute(0, 3, 1, 2).float() / 255 - 0.45) / 0.225

    return [
        Case("dequantize_i8", "narrow", [Input((many(16384), 4096), I8, 100), Input((many(16384), 1), F16)],
             lambda x, scale: x.to(torch.float16) * scale),
        Case("image_to_float_u8", "narrow", [Input((many(128), 224, 224, 3), U8, 256)], normalised),
        Case("add_saturated_u8", "narrow", [Input((many(128 * MEBI),), U8, 256), Input((many(128 * MEBI),), U8, 256)],
             lambda x, y: (x.int() + y.int()).clamp(max=255).to(torch.uint8)),
        Case("mask_or_b8", "narrow", [Input((many(128 * MEBI),), B8), Input((many(128 * MEBI),), B8)],
             lambda x, y: x | ~y),
        Case("count_equal_i8", "narrow", [Input((many(65536), 2048), I8, 4)], lambda x: (x == 3).sum(-1)),
    ]


def small(torch, F, many):
    """Of 10 to 100 KiB, the same on a CPU."""
    return [
        Case("small_layer_norm_f32", "small", [Input((32, 768)), Input((768,)), Input((768,))],
             lambda x, weight, bias: F.layer_norm(x, (768,), weight, bias)),
        Case("small_softmax_f32", "small", [Input((6, 64, 64))], lambda x: torch.softmax(x, -1)),
        Case("small_add_relu_f32", "small", [Input((64, 256)), Input((256,))], lambda x, y: torch.relu(x + y)),
        Case("small_gelu_f16", "small", [Input((8, 4096), F16)], F.gelu),
        Case("small_sum_f32", "small", [Input((25600,))], lambda x: x.sum()),
        Case("small_column_sum_f32", "small", [Input((128, 128))], lambda x: x.sum(0)),
        Case("small_transpose_f32", "small", [Input((160, 128))], lambda x: x.t().contiguous()),
        Case("small_cumsum_f32", "small", [Input((16, 1000))], lambda x: x.cumsum(-1)),
    ]


def products(torch, F, many):
    """Contractions with what stands around them; the sizes are those of a CPU."""
    def causal_attention(q, k, v):
        scores = torch.matmul(q, k.transpose(-1, -2)) * 0.125
        place = torch.arange(512, device=q.device)
        masked = torch.where(place[:, None] >= place, scores, -math.inf)
        return torch.matmul(torch.softmax(masked, -1), v)

    heads = [Input((2, 12, 512, 64)), Input((2, 12, 512, 64)), Input((2, 12, 512, 64))]
    return [
        Case("product_1024_f32", "products", [Input((1024, 1024)), Input((1024, 1024))], torch.mm),
        Case("causal_attention_written_f32", "products", heads, causal_attention),
        Case("causal_attention_f32", "products", heads,
             lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True)),
    ]
