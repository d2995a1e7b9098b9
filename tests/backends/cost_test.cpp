// The column `cost` of the tables of operators and monoids, counted again in the machine code of their
// functions.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <sstream>

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "core/ops/cost.h"

namespace twinloom::tests {
namespace {

using ops::DType;
using ops::Monoid;
using ops::Pointwise;

std::string lanes_of(Pointwise op) {
  const ops::Takes takes = ops::takes(op);
  const bool whole = takes == ops::Takes::bits || takes == ops::Takes::integer;
  const char* element = takes == ops::Takes::counter ? "i64" : whole ? "i32" : "f32";
  return cat("Vector<", element, ", 16>");
}

// extern "C" void row_exp(const Vector<f32, 16>* x, Vector<f32, 16>* y) { *y = exp(x[0]); }
std::string function_of(Pointwise op) {
  const std::string lanes = lanes_of(op);
  const bool selects = ops::takes(op) == ops::Takes::select;
  std::string call = cat(ops::name(op), "(", selects ? "mask_of(x[0] > x[3])" : "x[0]");
  for (int k = 1; k < ops::arity(op); ++k) call += cat(", x[", k, "]");
  call += ")";
  std::string result = lanes;
  if (ops::gives(op) == ops::Gives::truth) call = cat("where(", call, ", ", lanes, "(1), ", lanes, "(0))");
  if (ops::gives(op) == ops::Gives::f32) result = "Vector<f32, 16>";
  if (ops::gives(op) == ops::Gives::f64) result = "Vector<f64, 16>";
  if (ops::gives(op) == ops::Gives::i64) result = "Vector<i64, 16>";
  return cat("extern \"C\" void row_", ops::name(op), "(const ", lanes, "* x, ", result, "* y) { *y = ", call,
             "; }\n");
}

// extern "C" void row_max(const Vector<f32, 16>* x, Vector<f32, 16>* y) { *y = max(x[0], x[1]); }
std::string function_of(Monoid monoid) {
  const bool of_truths = !ops::accepts(monoid, ops::DType::f32);
  const std::string lanes = cat("Vector<", of_truths ? "bool" : "f32", ", 16>");
  const std::string head =
      cat("extern \"C\" void row_", ops::name(monoid), "(const ", lanes, "* x, ", lanes, "* y");
  if (ops::parts(monoid) == 1) return cat(head, ") { *y = ", ops::name(monoid), "(x[0], x[1]); }\n");
  return cat(head, ", const Vector<i64, 16>* places, Vector<i64, 16>* place) {\n  const auto replaces = ",
             ops::name(monoid), "(x[0], places[0], x[1], places[1]);\n",
             "  *y = where(replaces, x[1], x[0]);\n  *place = where(replaces, places[1], places[0]);\n}\n");
}

// Of 16 lanes; halves are u16 in memory.
struct Conversion {
  const char* name;
  DType from, to;
  const char *taken, *given, *call;
};
constexpr std::array conversions = {
    Conversion{"narrow_bf16", DType::f32, DType::bf16, "f32", "u16", "narrow<bf16>(x[0])"},
    Conversion{"widen_bf16", DType::bf16, DType::f32, "u16", "f32", "widen<bf16>(x[0])"},
    Conversion{"narrow_f16", DType::f32, DType::f16, "f32", "u16", "narrow<f16>(x[0])"},
    Conversion{"to_u8", DType::f32, DType::u8, "f32", "u8", "convert<u8>(x[0])"},
    Conversion{"of_u8", DType::u8, DType::f32, "u8", "f32", "convert<f32>(x[0])"},
    Conversion{"of_i32", DType::i32, DType::f32, "i32", "f32", "convert<f32>(x[0])"}};
std::string function_of(const Conversion& conversion) {
  return cat("extern \"C\" void row_", conversion.name, "(const Vector<", conversion.taken,
             ", 16>* x, Vector<", conversion.given, ", 16>* y) { *y = ", conversion.call, "; }\n");
}

struct Count {
  int own = 0;
  std::vector<std::string> called;
};

// Of the instructions that compute: no moves, no calls, no flow of control.
int weight_of(std::string_view instruction) {
  constexpr std::array left_out = {"mov",  "vmov", "vbroadcast", "vpbroadcast", "ret", "vzero", "push", "pop",
                                   "kmov", "j",    "and",        "sub",         "add", "lea",   "call"};
  for (const char* start : left_out)
    if (instruction.starts_with(start)) return 0;
  return instruction.starts_with("vdiv") || instruction.starts_with("vsqrt") ? 8 : 1;
}

std::map<std::string, Count> counted(const std::string& assembly) {
  std::map<std::string, Count> counts;
  Count* function = nullptr;
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('\t') && !line.starts_with('.') && line.find(':') != std::string::npos)
      function = &counts[line.substr(0, line.find(':'))];
    if (function == nullptr || !line.starts_with('\t') || line.starts_with("\t.")) continue;
    std::istringstream words(line);
    std::string instruction, operand;
    words >> instruction >> operand;
    function->own += weight_of(instruction);
    if (instruction.starts_with("call")) function->called.push_back(operand);
  }
  return counts;
}

// A function that does little but call another is as that one; else calls are slow paths.
int cost_of(const std::map<std::string, Count>& counts, const std::string& name) {
  constexpr int LITTLE = 8;
  const Count& count = counts.at(name);
  int cost = count.own;
  for (const std::string& called : count.called)
    if (count.own <= LITTLE && counts.contains(called)) cost += counts.at(called).own;
  return cost;
}

TEST(Cost, IsWhatTheMachineCodeHas) {
  const std::vector<cpu::Isa> isas = cpu::all_isas();
  const cpu::Isa& isa = isas.back();
  ASSERT_EQ(isa.name, "avx512");
  const jit::Compiler compiler(isa.target, cpu::all_headers(), cpu::prelude(), {},
                               cpu::precompiled_prelude(isa));
  std::string text = "namespace twinloom::device {\n";
  for (const Pointwise op : ops::all_pointwise()) text += function_of(op);
  for (const Monoid monoid : ops::all_monoids()) text += function_of(monoid);
  for (const Conversion& conversion : conversions) text += function_of(conversion);
  const auto counts = counted(compiler.assembly(text + "}\n", "rows"));
  const auto expect_found = [&](int cost, std::string_view name) {
    const int found = cost_of(counts, cat("row_", name));
    // Of another version of the compiler a few may be another number.
    EXPECT_NEAR(cost, found, 2 + found / 8) << name;
  };
  for (const Pointwise op : ops::all_pointwise()) expect_found(ops::cost(op), ops::name(op));
  for (const Monoid monoid : ops::all_monoids()) expect_found(ops::cost(monoid), ops::name(monoid));
  for (const Conversion& conversion : conversions)
    expect_found(ops::conversion_cost(conversion.from, conversion.to), conversion.name);
}

}  // namespace
}  // namespace twinloom::tests
