// Every elementary function stays within its bound, the column of pointwise.def in units of the last place,
// of f32, f64, f16 and bf16. judge.h says how so many inputs are compared with MPFR.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/text.h"
#include "core/ops/convert.h"
#include "tests/ops/draws.h"
#include "tests/ops/elements.h"
#include "tests/ops/judge.h"
#include "tests/ops/vector/usable.h"

namespace twinloom::ops {
namespace {

using testing::Elements;
using testing::Judge;

constexpr std::int64_t inputs_of_each = TWINLOOM_ACCURACY_INPUTS;  // a multiple of the lanes of a vector

template <class Real>
using Operands = std::vector<std::vector<Real>>;
template <class Real>
constexpr DType dtype_of = sizeof(Real) == 4 ? DType::f32 : DType::f64;

template <class Real>
std::vector<Real> results_of(Pointwise op, const Operands<Real>& operands) {
  std::vector<const void*> pointers;
  for (const auto& operand : operands) pointers.push_back(operand.data());
  std::vector<Real> results(operands[0].size());
  testing::apply_vectors(op, dtype_of<Real>, pointers, results.data(), std::ssize(results));
  return results;
}
std::vector<double> results_in_f64(Pointwise op, const Operands<float>& operands) {
  Operands<double> wide;
  for (const auto& operand : operands) wide.emplace_back(operand.begin(), operand.end());
  return results_of(testing::reference_of(op).full.value_or(op), wide);
}

template <class Real>
testing::Judged element(const Operands<Real>& operands, std::size_t i, double got) {
  return {operands[0][i], operands.size() > 1 ? operands[1][i] : Real(0), got};
}

void expect_within_bound(Pointwise op, DType dtype, const Judge& judge) {
  const auto& [worst, filter_error, by_mpfr, checked] = judge.verdict();
  std::cout << name(op) << " of " << name(dtype) << ": " << worst.ulps << " ulp at "
            << print(Number(worst.at.x)) << ", " << print(Number(worst.at.y)) << "; the filter errs by "
            << filter_error << " in " << checked << " inputs; MPFR decided " << by_mpfr << "\n";
  EXPECT_EQ(judge.complaint().value_or(""), "");
  EXPECT_GT(checked, 20);
}

class EveryFunction : public ::testing::TestWithParam<Pointwise> {
 protected:
  const Pointwise op = GetParam();

  bool is_checked(std::size_t i) const { return i % testing::reference_of(op).every == 0; }
  template <class Real>
  Operands<Real> drawn() const {
    return testing::draw<Real>(arity(op), inputs_of_each, static_cast<std::uint64_t>(op) + 100);
  }
};

TEST_P(EveryFunction, StaysWithinItsBoundInF32) {
  const Operands<float> operands = drawn<float>();
  const std::vector<float> results = results_of(op, operands);
  const std::vector<double> filter = results_in_f64(op, operands);
  Judge judge(op, DType::f32, DType::f32, ulp_bound(op, DType::f32));
  for (std::size_t i = 0; i < results.size(); ++i)
    judge.add(element(operands, i, double{results[i]}), filter[i], is_checked(i));
  expect_within_bound(op, DType::f32, judge);
}

TEST_P(EveryFunction, StaysWithinItsBoundInF64) {
  const Operands<double> operands = drawn<double>();
  const std::vector<double> results = results_of(op, operands);
  const testing::Near near = testing::reference_of(op).near;
  Judge judge(op, DType::f64, DType::f64, ulp_bound(op, DType::f64));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const testing::Judged of = element(operands, i, results[i]);
    judge.add(of, near({of.x, of.y, of.got}), is_checked(i));
  }
  expect_within_bound(op, DType::f64, judge);
}

// f16 and bf16 are computed in f32 and rounded once, some by shorter functions: of every input there is.
class EveryFunctionOfOne : public EveryFunction {};

TEST_P(EveryFunctionOfOne, StaysWithinItsBoundIn16Bits) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const Elements inputs = testing::every_value(dtype);
    Elements results(dtype, inputs.count());
    const void* pointer = inputs.data();
    apply_spelled(op, dtype, {&pointer, 1}, results.data(), inputs.count());
    Operands<float> operands(1);
    for (std::int64_t i = 0; i < inputs.count(); ++i)
      operands[0].push_back(static_cast<float>(inputs.number(i).real()));
    const std::vector<double> filter = results_in_f64(op, operands);
    const bool is_brief = testing::reference_of(computed_for(op, dtype)).full.has_value();
    const bool is_approximate = approximated_by(op).has_value();
    Judge judge(op, dtype, DType::f32, is_approximate ? 1 : is_brief ? 0.51 : 0.501);
    for (std::size_t i = 0; i < filter.size(); ++i)
      judge.add(element(operands, i, results.number(static_cast<std::int64_t>(i)).real()), filter[i],
                is_checked(i));
    expect_within_bound(op, dtype, judge);
  }
}

std::vector<Pointwise> functions(int most_operands) {
  std::vector<Pointwise> all;
  for (const testing::Reference& row : testing::references())
    if (arity(row.op) <= most_operands) all.push_back(row.op);
  return all;
}
std::string name_of(const ::testing::TestParamInfo<Pointwise>& row) { return std::string(name(row.param)); }

INSTANTIATE_TEST_SUITE_P(Accuracy, EveryFunction, ::testing::ValuesIn(functions(2)), name_of);
INSTANTIATE_TEST_SUITE_P(Accuracy, EveryFunctionOfOne, ::testing::ValuesIn(functions(1)), name_of);

TEST(Accuracy, NoFunctionIsLeftOut) {
  for (const Pointwise op : all_pointwise()) {
    if (takes(op) == Takes::counter || ulp_bound(op, DType::f32) == 0 || arity(op) > 2) continue;
    EXPECT_EQ(testing::reference_of(op).op, op);
  }
}

}  // namespace
}  // namespace twinloom::ops
