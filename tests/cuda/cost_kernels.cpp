// See cost_kernels.h. Names of values have the number of the lane at their end, written '@':
//   extern "C" __global__ void row_add(const char* in, char* out) {
//     f32 x0_0, x0_1, x0_2, x0_3; load_packed(..., x0_0, x0_1, x0_2, x0_3);
//     f32 x1_0, x1_1, x1_2, x1_3; load_packed(..., x1_0, x1_1, x1_2, x1_3);
//     const f32 y_0 = add(x0_0, x1_0), y_1 = add(x0_1, x1_1), ...;
//     store_packed(..., y_0, y_1, y_2, y_3);
//   }
#include "tests/cuda/cost_kernels.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

constexpr int VALUE_BYTES = 8 * COST_LANES;  // what lanes of a value take at most
constexpr int THREAD_BYTES = 512;

std::string in_lanes(std::string_view pattern, std::string_view between = ", ") {
  std::vector<std::string> lanes;
  for (int lane = 0; lane < COST_LANES; ++lane) {
    std::string& text = lanes.emplace_back();
    for (const char letter : pattern) text += letter == '@' ? cat(lane) : std::string(1, letter);
  }
  return join(lanes, between, [](const std::string& lane) { return lane; });
}

// Addresses are one instruction each, so that they are the same in all kernels.
class Kernel {
 public:
  explicit Kernel(std::string name, const std::string& parameters = "") : name_(std::move(name)) {
    writer_.line("extern \"C\" __global__ void ", name_, "(const char* __restrict__ in", parameters,
                 ", char* __restrict__ out) {");
    writer_.indent();
    writer_.line("in += u64(threadIdx.x) * ", THREAD_BYTES, ";");
    writer_.line("out += u64(threadIdx.x) * ", THREAD_BYTES, ";");
  }
  // A value's name, with the mark of its lane.
  std::string load(std::string_view type) {
    const std::string value = cat("x", loaded_, "_@");
    writer_.line(type, " ", in_lanes(value), ";");
    writer_.line("load_packed(reinterpret_cast<const ", type, "*>(in + ", loaded_++ * VALUE_BYTES, "), ",
                 in_lanes(value), ");");
    return value;
  }
  void define(std::string_view type, std::string_view value, std::string_view text) {
    writer_.line(type, " ", in_lanes(cat(value, " = ", text)), ";");
  }
  void line(std::string_view text) { writer_.line(text); }
  void store(std::string_view type, std::string_view value) {
    writer_.line("store_packed(reinterpret_cast<", type, "*>(out + ", stored_++ * VALUE_BYTES, "), ",
                 in_lanes(value), ");");
  }
  CostKernel take(int around_truths) {
    writer_.dedent();
    writer_.line("}");
    return {name_, writer_.take(), around_truths};
  }

 private:
  std::string name_;
  Writer writer_;
  int loaded_ = 0, stored_ = 0;
};

std::string call(std::string_view function, const std::vector<std::string>& arguments) {
  return cat(function, "(", join(arguments, ", ", [](const std::string& argument) { return argument; }), ")");
}

// As Values::lanes_again writes it.
CostKernel quick_kernel(Kernel kernel, ops::Pointwise op) {
  const std::string_view name = ops::name(op);
  std::string x = kernel.load("f32");
  if (ops::arity(op) == 2) x += ", " + kernel.load("f32");
  kernel.line("bool rare = false;");
  kernel.define("f32", "y_@", cat("quick_", name, "(rare, ", x, ")"));
  kernel.line("if (__builtin_expect(rare, 0)) {");
  if (ops::quick_form(op) != ops::QuickForm::never) {
    kernel.line("rare = false;");
    kernel.line(cat(in_lanes(cat("y_@ = mended_", name, "(rare, ", x, ", y_@)")), ";"));
  }
  kernel.line(cat("if (rare) ", in_lanes(cat("y_@ = rare_", name, "(", x, ")")), ";"));
  kernel.line("}");
  kernel.store("f32", "y_@");
  return kernel.take(0);
}

// The number of the element is a lane's own; seed, offset and the others are the same for all. As
// Values::drawn_together writes it where lanes are neighbours.
CostKernel random_kernel(ops::Pointwise op) {
  std::string parameters;
  std::vector<std::string> inputs(1);
  for (int input = 1; input < ops::arity(op); ++input) {
    inputs.push_back(cat("same_", input));
    parameters += cat(", i64 ", inputs.back());
  }
  Kernel kernel(cat("row_", ops::name(op)), parameters);
  inputs.front() = kernel.load("i64");
  const ops::DType result = ops::result_type(op, std::vector(inputs.size(), ops::DType::i64)).value();
  std::string function(ops::name(op));
  if (op == ops::Pointwise::random_uniform) {
    function += "_beside<@, 4>";
    std::ranges::replace(inputs.front(), '@', '0');
  }
  kernel.define(ops::name(result), "y_@", call(function, inputs));
  kernel.store(ops::name(result), "y_@");
  return kernel.take(0);
}

}  // namespace

CostKernel empty_kernel() {
  Kernel kernel("empty");
  kernel.store("f32", kernel.load("f32"));
  return kernel.take(0);
}

CostKernel kernel_of(ops::Pointwise op) {
  const ops::Takes takes = ops::takes(op);
  if (takes == ops::Takes::counter) return random_kernel(op);
  Kernel kernel(cat("row_", ops::name(op)));
  if (ops::quick_form(op) != ops::QuickForm::none) return quick_kernel(std::move(kernel), op);
  const bool selects = takes == ops::Takes::select, asks = ops::gives(op) == ops::Gives::truth;
  const bool is_whole = takes == ops::Takes::bits || takes == ops::Takes::integer;
  const std::string_view type = is_whole ? "i32" : "f32";
  std::vector<std::string> inputs;
  for (int input = 0; input < ops::arity(op); ++input) inputs.push_back(kernel.load(type));
  if (selects) inputs.front() += cat(" > ", kernel.load(type));
  std::string value = call(ops::name(op), inputs);
  if (asks) {
    const std::string yes = kernel.load(type), no = kernel.load(type);
    value = call("where", {value, yes, no});
  }
  kernel.define(type, "y_@", value);
  kernel.store(type, "y_@");
  return kernel.take(selects || asks ? 1 : 0);
}

CostKernel kernel_of(ops::Monoid monoid) {
  Kernel kernel(cat("monoid_", ops::name(monoid)));
  const std::string left = kernel.load("f32"), right = kernel.load("f32");
  if (ops::parts(monoid) == 2) {
    const std::string left_place = kernel.load("i64"), right_place = kernel.load("i64");
    kernel.define("const bool", "m_@", call(ops::name(monoid), {left, left_place, right, right_place}));
    kernel.define("f32", "y_@", call("where", {"m_@", right, left}));
    kernel.define("i64", "z_@", call("where", {"m_@", right_place, left_place}));
    kernel.store("f32", "y_@");
    kernel.store("i64", "z_@");
    return kernel.take(0);
  }
  const bool of_truths = !ops::accepts(monoid, ops::DType::f32);
  std::string value = call(ops::name(monoid), {left, right});
  if (of_truths) {
    const std::string third = kernel.load("f32"), fourth = kernel.load("f32");
    value = call("where", {call(ops::name(monoid), {cat(left, " > ", third), cat(right, " > ", fourth)}),
                           left, right});
  }
  kernel.define("f32", "y_@", value);
  kernel.store("f32", "y_@");
  return kernel.take(of_truths ? 3 : 0);
}

}  // namespace twinloom::cuda
