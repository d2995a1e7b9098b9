// See matrix_call.h.
#include "backends/cuda/matrix_call.h"

#include <algorithm>

#include "core/loops/products.h"

namespace twinloom::cuda {

namespace {

using loops::Contraction, loops::known;

// A call starts in a microsecond or two: many of them, as of a batch of odd steps, take longer than what is
// generated.
constexpr std::int64_t MOST_CALLS = 64;

bool can_take(const loops::ContractionTypes& types) {
  const bool is_narrow = types.left == ops::DType::f16 || types.left == ops::DType::bf16;
  return types.left == types.right && (types.left == ops::DType::f32 || is_narrow) &&
         (types.out == ops::DType::f32 || types.out == types.left) &&
         std::ranges::all_of(types.operands, [&](ops::DType dtype) { return dtype == types.out; });
}

// Elements (r, c) at r * row_step + c * column_step, as columns or as the rows of what is read transposed.
std::optional<ColumnMatrix> matrix_of(std::int64_t rows, std::int64_t columns, std::int64_t row_step,
                                      std::int64_t column_step) {
  const auto of_columns = [](std::int64_t along, std::int64_t across, std::int64_t step,
                             std::int64_t apart) -> std::optional<ColumnMatrix> {
    if (along > 1 && step != 1) return std::nullopt;
    const std::int64_t least = std::max<std::int64_t>(along, 1);
    if (across > 1 && apart < least) return std::nullopt;
    return ColumnMatrix{along, across, std::max(apart, least)};
  };
  if (auto plain = of_columns(rows, columns, row_step, column_step)) return plain;
  auto by_rows = of_columns(columns, rows, column_step, row_step);
  if (by_rows) by_rows->transposed = true;
  return by_rows;
}

class Maker {
 public:
  explicit Maker(const loops::ContractionCall& call) : call_(call) {}

  std::optional<MatrixCall> make() {
    const auto product = loops::matrix_product_of(call_.contraction);
    if (!product) return std::nullopt;
    for (const bool swapped : {false, true})
      if (set_matrices(*product, swapped)) {
        made_.swapped = swapped;
        return add_batch(*product) && add_epilogue(*product) ? std::optional(made_) : std::nullopt;
      }
    return std::nullopt;
  }

 private:
  // D's rows are the columns of the results, or, swapped, their rows.
  bool set_matrices(const loops::MatrixProduct& of, bool swapped) {
    const Contraction::Axis &rows = swapped ? of.rows : of.columns, &columns = swapped ? of.columns : of.rows;
    const std::int64_t m = known(rows.extent), n = known(columns.extent), k = known(of.depth.extent);
    const Contraction& all = call_.contraction;
    const auto a = swapped ? matrix_of(m, k, known(rows.left), known(of.depth.left))
                           : matrix_of(m, k, known(rows.right), known(of.depth.right));
    const auto b = swapped ? matrix_of(k, n, known(of.depth.right), known(columns.right))
                           : matrix_of(k, n, known(of.depth.left), known(columns.left));
    const auto d = matrix_of(m, n, known(rows.out), known(columns.out));
    if (!a || !b || !d || d->transposed) return false;
    made_.depth = k;
    made_.matrices = {*a, *b, *d, *d};
    made_.matrices[MatrixCall::A].begin = known(swapped ? all.left_begin : all.right_begin);
    made_.matrices[MatrixCall::B].begin = known(swapped ? all.right_begin : all.left_begin);
    for (const auto which : {MatrixCall::C, MatrixCall::D})
      made_.matrices[which].begin = known(all.out_begin);
    return true;
  }

  // The longest axis is the batch.
  bool add_batch(const loops::MatrixProduct& of) {
    batch_ = of.batch;
    std::ranges::stable_sort(batch_, {}, [](const Contraction::Axis& axis) { return known(axis.extent); });
    std::int64_t calls = 1;
    for (const Contraction::Axis& axis : batch_) {
      const std::int64_t left = known(axis.left), right = known(axis.right), out = known(axis.out);
      made_.outer.push_back(
          {known(axis.extent), {made_.swapped ? left : right, made_.swapped ? right : left, out, out}});
    }
    if (!batch_.empty()) {
      made_.batch = made_.outer.back().extent;
      for (std::size_t which = 0; which < made_.matrices.size(); ++which)
        made_.matrices[which].batch_step = made_.outer.back().steps[which];
      made_.outer.pop_back();
    }
    for (const MatrixCall::Outer& outer : made_.outer) calls *= std::max<std::int64_t>(outer.extent, 1);
    return calls <= MOST_CALLS;
  }

  bool add_epilogue(const loops::MatrixProduct& of) {
    return std::ranges::all_of(call_.epilogue, [&](const loops::EpilogueStep& step) {
      return step.kind == loops::EpilogueStep::Kind::add && step.operand && add_operand(of, *step.operand);
    });
  }

  bool add_operand(const loops::MatrixProduct& of, std::size_t operand) {
    const auto step_along = [&](const Contraction::Axis& axis) {
      return operand < axis.operands.size() ? known(axis.operands[operand]) : 0;
    };
    const ColumnMatrix& results = made_.matrices[MatrixCall::D];
    const std::int64_t m = results.rows, n = results.columns,
                       along = step_along(made_.swapped ? of.rows : of.columns),
                       across = step_along(made_.swapped ? of.columns : of.rows),
                       begin = known(call_.contraction.operands[operand].begin);
    const bool has_batch =
        std::ranges::any_of(batch_, [&](const Contraction::Axis& axis) { return step_along(axis) != 0; });
    if (!made_.bias && !has_batch && (along == 1 || m == 1) && (across == 0 || n == 1)) {
      made_.bias = operand, made_.bias_begin = begin;
      return true;
    }
    auto matrix = matrix_of(m, n, along, across);
    if (made_.added || !matrix || matrix->transposed) return false;
    matrix->begin = begin;
    if (!batch_.empty()) matrix->batch_step = step_along(batch_.back());
    for (std::size_t at = 0; at < made_.outer.size(); ++at)
      made_.outer[at].steps[MatrixCall::C] = step_along(batch_[at]);
    made_.added = operand, made_.matrices[MatrixCall::C] = *matrix;
    return true;
  }

  const loops::ContractionCall& call_;
  std::vector<Contraction::Axis> batch_ = {};  // the last one is the call's
  MatrixCall made_;
};

}  // namespace

std::optional<MatrixCall> matrix_call_of(const loops::ContractionCall& call,
                                         const loops::ContractionTypes& types) {
  const Contraction& of = call.contraction;
  if (!can_take(types) || of.sums != ops::DType::f32 || !of.left_zero.is_none() || !of.right_zero.is_none())
    return std::nullopt;
  return Maker(call).make();
}

}  // namespace twinloom::cuda
