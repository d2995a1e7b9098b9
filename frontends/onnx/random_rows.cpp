// Random numbers. ONNX leaves open which ones: they are those of the graph's own generator, by the seed of a
// run, whatever attribute `seed` says.
#include <array>

#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using ops::DType;

enum class Kind : std::uint8_t { uniform, normal };

// In f32, or f64 where the result is.
Tensor drawn(const Call& call, Kind kind, const Shape& shape, DType dtype) {
  call.ignore({"seed"});
  graph::Builder& builder = call.builder();
  const DType compute = dtype == DType::f64 ? dtype : DType::f32;
  if (kind == Kind::uniform) {
    const double low = call.real("low", 0), high = call.real("high", 1);
    return graph::cast(builder.uniform(shape, compute) * (high - low) + low, dtype);
  }
  return graph::cast(builder.normal(shape, compute) * call.real("scale", 1) + call.real("mean", 0), dtype);
}

template <Kind kind>
Values random(const Call& call) {
  const auto sizes = call.integers("shape");
  if (!sizes) call.fail("needs attribute 'shape'");
  for (const std::int64_t size : *sizes)
    if (size < 0) call.fail("a size is ", size);
  return {drawn(call, kind, Shape(sizes->begin(), sizes->end()), call.dtype("dtype", DType::f32))};
}
template <Kind kind>
Values random_like(const Call& call) {
  const Tensor x = call.tensor(0);
  return {drawn(call, kind, x.shape(), call.dtype("dtype", x.dtype()))};
}

// 1 as often as each element says.
Values bernoulli(const Call& call) {
  call.ignore({"seed"});
  const Tensor x = graph::widened(call.tensor(0));
  const Tensor is_one = graph::lt(call.builder().uniform(x.shape(), x.dtype()), x);
  return {graph::cast(is_one, call.dtype("dtype", call.tensor(0).dtype()))};
}

// Classes by the logarithms of their weights: the greatest after -log(-log(u)) is added to each.
Values multinomial(const Call& call) {
  call.ignore({"seed"});
  const Tensor x = graph::widened(call.tensor(0));
  const std::int64_t samples = call.integer("sample_size", 1);
  if (x.rank() != 2 || samples < 1) call.fail("needs rows of classes, and a sample of each at least");
  const Tensor u = call.builder().uniform({x.size(0), samples, x.size(1)}, x.dtype());
  const Tensor found = graph::argmax(graph::unsqueeze(x, 1) - graph::log(-graph::log(u)), -1);
  return {graph::cast(found, call.dtype("dtype", DType::i32))};
}

// Whether a Dropout drops anything: in training, with a ratio that is not known to be 0.
bool drops(const Call& call) {
  if (call.version() < 7) return !call.truth("is_test", false);
  if (call.version() < 12 || !call.has(2)) return false;
  if (call.integer(2) == 0) return false;
  return !call.has(1) || call.reals(1) != std::vector<double>{0};
}
Values dropout(const Call& call) {
  const bool is_training = drops(call);
  call.ignore({"seed"});
  const Tensor x = call.tensor(0), wide = graph::widened(x);
  graph::Builder& builder = call.builder();
  const DType mask = call.version() < 10 ? x.dtype() : DType::b8;
  if (!is_training) {
    call.ignore({"ratio"});
    call.ignore_input(1);
    return {x, builder.constant(1, mask, x.shape())};
  }
  const Tensor ratio = call.has(1) ? graph::reshape(graph::cast(call.tensor(1), wide.dtype()), {})
                                   : builder.constant(call.real("ratio", 0.5), wide.dtype());
  const Tensor stays = graph::ge(builder.uniform(x.shape(), wide.dtype()), ratio);
  const Tensor value = graph::where(stays, wide / (1.0 - ratio), 0.0);
  return {graph::cast(value, x.dtype(), true), graph::cast(stays, mask)};
}

constexpr std::array rows = {
    Row{"Bernoulli", bernoulli},
    Row{"Dropout", dropout},
    Row{"Multinomial", multinomial},
    Row{"RandomNormal", random<Kind::normal>},
    Row{"RandomNormalLike", random_like<Kind::normal>},
    Row{"RandomUniform", random<Kind::uniform>},
    Row{"RandomUniformLike", random_like<Kind::uniform>},
};

}  // namespace

std::span<const Row> random_rows() { return rows; }

}  // namespace twinloom::onnx
