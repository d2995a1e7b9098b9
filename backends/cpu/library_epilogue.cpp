// See library_epilogue.h.
#include "backends/cpu/library_epilogue.h"

#include <omp.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/loops/library_nest.h"

namespace twinloom::cpu {

namespace {

using Kind = loops::EpilogueStep::Kind;
using loops::known;
using onednn::functions;

constexpr unsigned INVALID = 1, ALL_FLAGS = 0x3f;  // of MXCSR

float least_or_nan(float a, float b) { return std::isnan(a) || a < b ? a : b; }
float greatest_or_nan(float a, float b) { return std::isnan(a) || a > b ? a : b; }

float after(const loops::EpilogueStep& step, float x, float operand) {
  switch (step.kind) {
    case Kind::add:
      return x + operand;
    case Kind::subtract:
      return x - operand;
    case Kind::multiply:
      return x * operand;
    case Kind::divide:
      return x / step.a;
    case Kind::round:
      return std::nearbyint(x);
    case Kind::relu:
      return greatest_or_nan(x, 0);
    case Kind::clip:
      return least_or_nan(greatest_or_nan(x, step.a), step.b);
    case Kind::hard_swish:
      return x * least_or_nan(greatest_or_nan(step.a * x + step.b, 0), 1);
  }
  throw Bug("a step of an epilogue that is none");
}

int append(onednn::Handle post_ops, const loops::EpilogueStep& step, std::span<const onednn::Owned> operands,
           std::optional<std::size_t> in_results) {
  if (step.operand && step.operand == in_results)
    return functions().post_ops_append_sum(post_ops, 1, 0, onednn::SAME_TYPE);
  const auto binary = [&](int operation) {
    return functions().post_ops_append_binary(post_ops, operation, operands[*step.operand].get());
  };
  const auto unary = [&](int operation, float a, float b) {
    return functions().post_ops_append_eltwise(post_ops, operation, a, b);
  };
  switch (step.kind) {
    case Kind::add:
      return step.operand ? binary(onednn::ADD) : unary(onednn::LINEAR, 1, step.a);
    case Kind::subtract:
      return step.operand ? binary(onednn::SUBTRACT) : unary(onednn::LINEAR, 1, -step.a);
    case Kind::multiply:
      return step.operand ? binary(onednn::MULTIPLY) : unary(onednn::LINEAR, step.a, 0);
    case Kind::divide:
      return unary(onednn::LINEAR, 1 / step.a, 0);
    case Kind::round:
      return unary(onednn::ROUND, 0, 0);
    case Kind::relu:
      return unary(onednn::RELU, 0, 0);
    case Kind::clip:
      return unary(onednn::CLIP, step.a, step.b);
    case Kind::hard_swish:
      return unary(onednn::HARD_SWISH, step.a, step.b);
  }
  throw Bug("a step of an epilogue that is none");
}

// The kept axes of a contraction of known sizes, that along which results are neighbours last.
struct Walk {
  std::vector<std::int64_t> extents, out;
  std::vector<std::vector<std::int64_t>> operands;  // steps, by operand

  explicit Walk(const loops::Contraction& of) : operands(of.operands.size()) {
    std::vector<loops::Contraction::Axis> axes = of.kept;
    std::ranges::stable_sort(axes, std::ranges::greater{}, [](const auto& axis) { return known(axis.out); });
    for (const loops::Contraction::Axis& axis : axes) {
      extents.push_back(known(axis.extent)), out.push_back(known(axis.out));
      for (std::size_t number = 0; number < operands.size(); ++number)
        operands[number].push_back(known(axis.operands[number]));
    }
  }
  std::int64_t rows() const {
    std::int64_t rows = 1;
    for (std::size_t d = 0; d + 1 < extents.size(); ++d) rows *= extents[d];
    return rows;
  }
  // From element 0 to the first of a row.
  std::int64_t offset(std::int64_t row, const std::vector<std::int64_t>& steps) const {
    std::int64_t offset = 0;
    for (std::size_t d = extents.size() - 1; d-- > 0; row /= extents[d])
      offset += row % extents[d] * steps[d];
    return offset;
  }
};

}  // namespace

void add_steps(onednn::Handle attributes, std::span<const loops::EpilogueStep> steps,
               std::span<const onednn::Owned> operands, std::optional<std::size_t> in_results) {
  onednn::Handle made = nullptr;
  onednn::check(functions().post_ops_create(&made), "what is done to a result");
  const onednn::Owned post_ops(made, functions().post_ops_destroy);
  for (const loops::EpilogueStep& step : steps)
    onednn::check(append(made, step, operands, in_results), "what is done to a result");
  onednn::check(functions().primitive_attr_set_post_ops(attributes, made), "what is done to a result");
}

std::optional<std::size_t> operand_in_results(const loops::ContractionCall& call) {
  const loops::Contraction& of = call.contraction;
  const auto lies_so = [&](std::size_t number) {
    const auto follows = [&](const loops::Contraction::Axis& axis) {
      return axis.operands[number] == axis.out || axis.extent == index::Expr(1);
    };
    return of.operands[number].begin == of.out_begin && std::ranges::all_of(of.kept, follows);
  };
  const auto reads = [&](loops::Buffer buffer) {
    return std::ranges::count(of.operands, buffer, &loops::Contraction::Operand::buffer) +
           (of.left == buffer ? 1 : 0) + (of.right == buffer ? 1 : 0);
  };
  for (const loops::EpilogueStep& step : call.epilogue)
    if (step.kind == Kind::add && step.operand && lies_so(*step.operand) &&
        reads(of.operands[*step.operand].buffer) == 1 &&
        std::ranges::count(call.epilogue, step.operand, &loops::EpilogueStep::operand) == 1)
      return step.operand;
  return std::nullopt;
}

bool may_drop_nan(std::span<const loops::EpilogueStep> steps) {
  return std::ranges::any_of(steps, [](const loops::EpilogueStep& step) {
    return step.kind == Kind::relu || step.kind == Kind::clip;
  });
}

void clear_invalid(int threads) {
#pragma omp parallel num_threads(threads)
  _mm_setcsr(_mm_getcsr() & ~ALL_FLAGS);
}

bool take_invalid(int threads) {
  unsigned flags = 0;
#pragma omp parallel num_threads(threads) reduction(| : flags)
  {
    const unsigned state = _mm_getcsr();
    flags |= state & INVALID;
    if ((state & ALL_FLAGS) != 0) _mm_setcsr(state & ~ALL_FLAGS);
  }
  return flags != 0;
}

void apply_epilogue(const loops::ContractionCall& call, const float* sums, void* out, ops::DType dtype,
                    std::span<const float* const> operands, int threads) {
  const Walk walk(call.contraction);
  const std::int64_t rows = walk.rows(), length = walk.extents.back(), apart = walk.out.back();
  const std::int64_t bytes = ops::size_of(dtype);
#pragma omp parallel for num_threads(threads)
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t first = walk.offset(row, walk.out);
    std::vector<float> results(static_cast<std::size_t>(length));
    for (std::int64_t k = 0; k < length; ++k) results[static_cast<std::size_t>(k)] = sums[first + k * apart];
    for (const loops::EpilogueStep& step : call.epilogue) {
      const float* operand = &step.a;
      std::int64_t operand_apart = 0;
      if (step.operand) {
        const std::vector<std::int64_t>& steps = walk.operands[*step.operand];
        operand = operands[*step.operand] + walk.offset(row, steps);
        operand_apart = steps.back();
      }
      for (float& result : results) {
        result = after(step, result, *operand);
        operand += operand_apart;
      }
    }
    for (std::int64_t k = 0; k < length; ++k)
      ops::store_number(dtype, ops::cast(ops::Number(double{results[static_cast<std::size_t>(k)]}), dtype),
                        static_cast<std::byte*>(out) + (first + k * apart) * bytes);
  }
}

std::int64_t span_of_results(const loops::Contraction& of) {
  std::int64_t last = 0;
  for (const loops::Contraction::Axis& axis : of.kept) last += (known(axis.extent) - 1) * known(axis.out);
  return last + 1;
}

}  // namespace twinloom::cpu
