// Every row of the operator table, every monoid and every conversion compiles for the GPU without a warning,
// of single elements and of four lanes. That their bits are right is for tests that have a GPU.
#include <gtest/gtest.h>

#include "backends/cuda/device_text.h"
#include "core/ops/monoid.h"
#include "core/ops/pointwise.h"
#include "tests/cuda/compiler.h"

namespace twinloom::cuda {
namespace {

using ops::DType;

struct Shape {
  DType element;
  int lanes;
};

bool is_format(DType dtype) {
  return ops::is_16_bit_float(dtype) || ops::kind(dtype) == ops::TypeKind::narrow_float;
}
bool is_stored(DType dtype) { return ops::kind(dtype) != ops::TypeKind::packed_int; }

std::string held(DType dtype) {
  return is_format(dtype) ? cat(ops::name(dtype), "::Bits") : std::string(name(dtype));
}
std::string vector_type(DType dtype, int lanes) { return cat("Vector<", held(dtype), ", ", lanes, ">"); }

// A kernel for each call, so that none is left out for want of a reader.
class Kernels {
 public:
  explicit Kernels(int lanes) : lanes_(lanes) {}

  // `before` and `after` stand around the arguments.
  void add(std::string_view before, const std::vector<DType>& inputs, DType result,
           std::string_view after = ")") {
    std::string parameters, arguments;
    for (const DType input : inputs) {
      const std::string at = cat("in", arguments.size());
      parameters += cat("const ", vector_type(input, lanes_), "* ", at, ", ");
      arguments += cat(arguments.empty() ? "" : ", ", "*", at);
    }
    writer_.line("extern \"C\" __global__ void kernel_", count_++, "(", parameters,
                 vector_type(result, lanes_), "* out) { *out = ", before, "(", arguments, after, "; }");
  }
  std::string text() const {
    return cat("#include \"cuda/routines.h\"\nnamespace twinloom::device {\n", writer_.text(), "}\n");
  }
  int count() const { return count_; }

 private:
  int lanes_;
  int count_ = 0;
  Writer writer_;
};

std::vector<DType> inputs_of(ops::Pointwise op, DType element) {
  std::vector<DType> inputs(static_cast<std::size_t>(ops::arity(op)), element);
  if (ops::takes(op) == ops::Takes::select) inputs[0] = DType::b8;
  return inputs;
}

void expect_compiles(const Kernels& kernels, const std::string& name) {
  EXPECT_GT(kernels.count(), 0);
  const std::string text = kernels.text(), needed = needed_headers(text);
  EXPECT_EQ(nvrtc().compile(text, name, {{ENTRY_HEADER, needed}}, {"sm_90a", {}}).log, "");
}

class Rows : public ::testing::TestWithParam<Shape> {};

TEST_P(Rows, CompileWithoutAWarning) {
  TWINLOOM_NEEDS_NVRTC();
  const auto [element, lanes] = GetParam();
  Kernels kernels(lanes);
  for (const ops::Pointwise op : ops::all_pointwise()) {
    if (!ops::takes_element(op, element)) continue;
    const std::vector<DType> inputs = inputs_of(op, element);
    kernels.add(ops::name(op), inputs, ops::result_type(op, inputs).value());
  }
  for (const ops::Monoid monoid : ops::all_monoids()) {
    if (!ops::accepts(monoid, element)) continue;
    if (ops::parts(monoid) == 1)
      kernels.add(ops::name(monoid), {element, element}, element);
    else
      kernels.add(ops::name(monoid), {element, DType::i64, element, DType::i64}, DType::b8);
  }
  expect_compiles(kernels, cat("rows_of_", ops::name(element)));
}

// The quick form of a row, what mends it, and the function of its own that the rest goes to.
TEST(QuickRows, CompileWithoutAWarning) {
  TWINLOOM_NEEDS_NVRTC();
  Writer writer;
  int count = 0;
  for (const ops::Pointwise op : ops::all_pointwise()) {
    if (ops::quick_form(op) == ops::QuickForm::none) continue;
    const std::string inputs = ops::arity(op) == 1 ? "*x" : "*x, *y";
    writer.line("extern \"C\" __global__ void kernel_", count++, "(const f32* x, const f32* y, f32* out) {");
    writer.line("  bool rare = false;\n  *out = quick_", ops::name(op), "(rare, ", inputs, ");");
    writer.line("  if (rare) {\n    rare = false;\n    *out = mended_", ops::name(op), "(rare, ", inputs,
                ", *out);\n  }");
    writer.line("  if (rare) *out = rare_", ops::name(op), "(", inputs, ");\n}");
  }
  EXPECT_GT(count, 0);
  const std::string text =
      cat("#include \"cuda/routines.h\"\nnamespace twinloom::device {\n", writer.text(), "}\n");
  const std::string needed = needed_headers(text);
  EXPECT_EQ(nvrtc().compile(text, "quick", {{ENTRY_HEADER, needed}}, {"sm_90a", {}}).log, "");
}

// Every operation is the one that IEEE 754 rounds, and keeps subnormals.
TEST(RowsAsPtx, NothingIsApproximate) {
  TWINLOOM_NEEDS_NVRTC();
  for (const DType element : {DType::f32, DType::f64}) {
    Kernels kernels(1);
    for (const char* name :
         {"div", "sqrt", "rsqrt", "exp", "sin", "tanh", "floor", "maximum", "hypot", "pow"}) {
      const ops::Pointwise op = ops::pointwise_named(name).value();
      kernels.add(name, inputs_of(op, element), element);
    }
    const std::string ptx = nvrtc().compile(kernels.text(), "rows", all_headers(), {"compute_90a", {}}).bytes;
    for (const char* wanted : {"div.rn", "sqrt.rn", "fma.rn", "cvt.rmi"})
      EXPECT_NE(ptx.find(wanted), std::string::npos) << wanted << " of " << ops::name(element);
    for (const char* unwanted : {".approx", ".ftz"})
      EXPECT_EQ(ptx.find(unwanted), std::string::npos) << unwanted << " of " << ops::name(element);
  }
}

class Conversions : public ::testing::TestWithParam<Shape> {};

TEST_P(Conversions, CompileWithoutAWarning) {
  TWINLOOM_NEEDS_NVRTC();
  const auto [from, lanes] = GetParam();
  Kernels kernels(lanes);
  for (const DType to : ops::all_dtypes()) {
    if (!is_stored(to)) continue;
    const std::string last = cat(is_format(to) ? "narrow<" : "convert<", ops::name(to), ">");
    if (is_format(from))
      kernels.add(cat(last, "(widen<", ops::name(from), ">"), {from}, to, "))");
    else
      kernels.add(last, {from}, to);
  }
  expect_compiles(kernels, cat("conversions_of_", ops::name(from)));
}

std::vector<Shape> shapes(bool (*is_wanted)(DType)) {
  std::vector<Shape> all;
  for (const DType dtype : ops::all_dtypes())
    for (const int lanes : {1, 4})
      if (is_wanted(dtype)) all.push_back({dtype, lanes});
  return all;
}
std::string shape_name(const ::testing::TestParamInfo<Shape>& row) {
  return cat(ops::name(row.param.element), "_x", row.param.lanes);
}

INSTANTIATE_TEST_SUITE_P(Cuda, Rows, ::testing::ValuesIn(shapes([](DType dtype) {
                           return is_stored(dtype) && !is_format(dtype);
                         })),
                         shape_name);
INSTANTIATE_TEST_SUITE_P(Cuda, Conversions, ::testing::ValuesIn(shapes(is_stored)), shape_name);

}  // namespace
}  // namespace twinloom::cuda
