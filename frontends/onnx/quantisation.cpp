// See quantisation.h.
#include "frontends/onnx/quantisation.h"

#include "core/graph/composites.h"
#include "core/graph/reductions.h"

namespace twinloom::onnx {

using ops::DType;

Tensor saturated(const Tensor& x, const Tensor& zero, const ElementType& type) {
  const int bits = type.narrow == nullptr ? ops::bits_of(type.dtype) : type.narrow->bits;
  const bool is_signed = ops::kind(type.dtype) == ops::TypeKind::signed_int;
  const double low = is_signed ? -static_cast<double>(std::int64_t{1} << (bits - 1)) : 0;
  const double high = static_cast<double>(std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const Tensor moved = graph::round(x) + graph::cast(zero, x.dtype());
  return graph::cast(graph::clamp(moved, ops::Number(low), ops::Number(high)), type.dtype);
}
Tensor saturated(const Call& call, const Tensor& x, const Tensor& zero) {
  const DType dtype = zero.dtype();
  if (!ops::is_integer(dtype) || ops::size_of(dtype) > 2)
    call.unsupported("quantisation to ", ops::name(dtype));
  return saturated(x, zero, {dtype});
}

Tensor centred(const Tensor& x, const std::optional<Tensor>& zero) {
  const Tensor wide = graph::cast(x, DType::i32);
  return zero ? wide - graph::cast(*zero, DType::i32) : wide;
}

std::optional<Tensor> of_rows(const std::optional<Tensor>& numbers) {
  if (!numbers || numbers->rank() != 1) return numbers;
  return graph::unsqueeze(*numbers, 1);
}

Tensor rescaled(const Call& call, const Tensor& sums, const Tensor& factor, const Tensor& scale,
                const Tensor& zero) {
  const Tensor by = graph::cast(factor, DType::f32) / graph::cast(scale, DType::f32);
  return saturated(call, graph::cast(sums, DType::f32) * by, zero);
}

Quantised quantised(const Call& call, const Tensor& x) {
  const Tensor low = graph::minimum(graph::amin(x), 0), high = graph::maximum(graph::amax(x), 0);
  const Tensor scale = (high - low) / 255.0;
  const Tensor zero =
      graph::cast(graph::round(graph::clamp(-low / scale, ops::Number(0.0), ops::Number(255.0))), DType::u8);
  return {saturated(call, x / scale, zero), scale, zero};
}

}  // namespace twinloom::onnx
