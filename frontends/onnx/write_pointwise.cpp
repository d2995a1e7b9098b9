// Pointwise operators as calls of ONNX's, by one table of formulas.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "core/base/scanner.h"
#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using ops::DType;
using ops::Pointwise;

// Calls of operators over the operands x, y and z and over numbers of their type; Fmod is Mod with fmod=1,
// Truth a cast to b8, Number one from
// b8; Width and Digits are how many bits the type has, and its sign left out. Of integers and of b8 where
// these are no reals; empty: as of reals.
struct Row {
  Pointwise op;
  std::string_view reals, integers = {}, truths = {};
};
constexpr std::string_view no_formula = {};
constexpr std::array rows = {
    Row{Pointwise::exp, "Exp(x)"},
    Row{Pointwise::exp2, "Exp(Mul(x, 0.6931471805599453))"},
    // 2 t / (1 - t) for t = tanh(x/2), which is exact near 0; its sign of infinity is right, its NaN at
    // infinity is not.
    Row{Pointwise::expm1,
        "Where(Less(Abs(x), 1), Div(Mul(2, Tanh(Mul(x, 0.5))), Sub(1, Tanh(Mul(x, 0.5)))), Sub(Exp(x), 1))"},
    Row{Pointwise::log, "Log(x)"},
    Row{Pointwise::log2, "Div(Log(x), 0.6931471805599453)"},
    Row{Pointwise::log10, "Div(Log(x), 2.302585092994046)"},
    // log(u) x / (u - 1) for u = 1 + x takes back what u has lost.
    Row{Pointwise::log1p,
        "Where(Equal(Add(1, x), 1), x, Where(Less(x, 16777216), Mul(Log(Add(1, x)), Div(x, Sub(Add(1, x), "
        "1))), Log(x)))"},
    Row{Pointwise::sin, "Sin(x)"},
    Row{Pointwise::cos, "Cos(x)"},
    Row{Pointwise::tan, "Tan(x)"},
    Row{Pointwise::sinh, "Sinh(x)"},
    Row{Pointwise::cosh, "Cosh(x)"},
    Row{Pointwise::tanh, "Tanh(x)"},
    Row{Pointwise::asin, "Asin(x)"},
    Row{Pointwise::acos, "Acos(x)"},
    Row{Pointwise::atan, "Atan(x)"},
    Row{Pointwise::asinh, "Asinh(x)"},
    Row{Pointwise::acosh, "Acosh(x)"},
    Row{Pointwise::atanh, "Atanh(x)"},
    Row{Pointwise::erf, "Erf(x)"},
    Row{Pointwise::erfc, "Sub(1, Erf(x))"},
    Row{Pointwise::sqrt, "Sqrt(x)"},
    Row{Pointwise::rsqrt, "Reciprocal(Sqrt(x))"},
    Row{Pointwise::reciprocal, "Reciprocal(x)"},
    Row{Pointwise::sigmoid, "Sigmoid(x)"},
    Row{Pointwise::silu, "Mul(x, Sigmoid(x))"},
    Row{Pointwise::gelu_erf, "Mul(Mul(x, 0.5), Add(1, Erf(Mul(x, 0.7071067811865476))))"},
    Row{Pointwise::gelu_tanh,
        "Mul(Mul(x, 0.5), Add(1, Tanh(Mul(0.7978845608028654, Add(x, Mul(0.044715, Mul(x, Mul(x, x))))))))"},
    Row{Pointwise::softplus, "Softplus(x)"},
    Row{Pointwise::ceil, "Ceil(x)"},
    Row{Pointwise::floor, "Floor(x)"},
    Row{Pointwise::trunc, "Where(Less(x, 0), Ceil(x), Floor(x))"},
    Row{Pointwise::round, "Round(x)"},
    Row{Pointwise::neg, "Neg(x)", "Sub(0, x)"},
    Row{Pointwise::abs, "Abs(x)"},
    Row{Pointwise::sign, "Sign(x)"},
    Row{Pointwise::relu, "Relu(x)", "Max(x, 0)"},
    Row{Pointwise::bitwise_not, "Neg(x)", "BitwiseNot(x)", "Not(x)"},  // of keys, which are reals here
    Row{Pointwise::logical_not, "Not(Truth(x))", {}, "Not(x)"},
    Row{Pointwise::isnan, "IsNaN(x)"},
    Row{Pointwise::isinf, "IsInf(x)"},
    Row{Pointwise::isfinite, "Not(Or(IsNaN(x), IsInf(x)))"},
    Row{Pointwise::signbit, "Or(Less(x, 0), Less(Reciprocal(x), 0))", "Less(x, 0)"},
    Row{Pointwise::order_key, no_formula, no_formula, no_formula},  // see key_of
    Row{Pointwise::add, "Add(x, y)"},
    Row{Pointwise::sub, "Sub(x, y)"},
    Row{Pointwise::mul, "Mul(x, y)"},
    Row{Pointwise::div, "Div(x, y)"},
    Row{Pointwise::div_floor, "Floor(Div(x, y))", "Div(Sub(x, Mod(x, y)), y)"},
    Row{Pointwise::div_trunc, "Where(Less(Div(x, y), 0), Ceil(Div(x, y)), Floor(Div(x, y)))", "Div(x, y)"},
    Row{Pointwise::remainder,
        "Where(And(Not(Equal(Fmod(x, y), 0)), Xor(Less(Fmod(x, y), 0), Less(y, 0))), Add(Fmod(x, y), y), "
        "Fmod(x, y))",
        "Mod(x, y)"},
    Row{Pointwise::fmod, "Fmod(x, y)"},
    Row{Pointwise::pow, "Pow(x, y)"},
    Row{Pointwise::atan2,
        "Where(Less(y, 0), Where(Less(x, 0), Sub(Atan(Div(x, y)), 3.141592653589793), Add(Atan(Div(x, y)), "
        "3.141592653589793)), Where(And(Equal(x, 0), Equal(y, 0)), x, Atan(Div(x, y))))"},
    Row{Pointwise::hypot, "Sqrt(Add(Mul(x, x), Mul(y, y)))"},
    Row{Pointwise::copysign, "Where(Or(Less(y, 0), Less(Reciprocal(y), 0)), Neg(Abs(x)), Abs(x))"},
    Row{Pointwise::maximum, "Max(x, y)", {}, "Or(x, y)"},
    Row{Pointwise::minimum, "Min(x, y)", {}, "And(x, y)"},
    Row{Pointwise::bitwise_and, no_formula, "BitwiseAnd(x, y)", "And(x, y)"},
    Row{Pointwise::bitwise_or, no_formula, "BitwiseOr(x, y)", "Or(x, y)"},
    Row{Pointwise::bitwise_xor, no_formula, "BitwiseXor(x, y)", "Xor(x, y)"},
    // By less than nothing, or by so much that nothing but signs is left.
    Row{Pointwise::shift_left, no_formula,
        "Where(Or(Less(y, 0), LessOrEqual(Width, y)), 0, Mul(x, Pow(2, y)))"},
    Row{Pointwise::shift_right, no_formula,
        "Where(Or(Less(y, 0), LessOrEqual(Digits, y)), Sub(0, Number(Less(x, 0))), Div(Sub(x, Mod(x, Pow(2, "
        "y))), Pow(2, y)))"},
    Row{Pointwise::logical_and, "And(Truth(x), Truth(y))", {}, "And(x, y)"},
    Row{Pointwise::logical_or, "Or(Truth(x), Truth(y))", {}, "Or(x, y)"},
    Row{Pointwise::logical_xor, "Xor(Truth(x), Truth(y))", {}, "Xor(x, y)"},
    Row{Pointwise::eq, "Equal(x, y)"},
    Row{Pointwise::ne, "Not(Equal(x, y))", {}, "Xor(x, y)"},
    Row{Pointwise::lt, "Less(x, y)", {}, "And(Not(x), y)"},
    Row{Pointwise::le, "LessOrEqual(x, y)", {}, "Or(Not(x), y)"},
    Row{Pointwise::gt, "Greater(x, y)", {}, "And(x, Not(y))"},
    Row{Pointwise::ge, "GreaterOrEqual(x, y)", {}, "Or(x, Not(y))"},
    Row{Pointwise::where, "Where(x, y, z)", {}, "Or(And(x, y), And(Not(x), z))"},
    Row{Pointwise::fma, "Add(Mul(x, y), z)"},
};

// What a shorter or approximate form of a function is one of.
Pointwise exact(Pointwise op) {
  std::string_view name = ops::name(op);
  for (const std::string_view ending : {"_flushed", "_approximate", "_short", "_brief"})
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
  return *ops::pointwise_named(name);
}

std::string_view formula_of(Pointwise op, DType element) {
  const auto row = std::ranges::find(rows, exact(op), &Row::op);
  if (row == rows.end()) return no_formula;
  if (element == DType::b8 && !row->truths.empty()) return row->truths;
  if (ops::is_integer(element) && !row->integers.empty()) return row->integers;
  return row->reals;
}

// Whether f32 computes it: a formula of several calls, each of which would be rounded, and bf16, which few
// have.
bool is_widened(std::string_view formula, DType element) {
  return ops::is_16_bit_float(element) && (element == DType::bf16 || std::ranges::count(formula, '(') > 1);
}

// Writes a formula over operands with names, whose numbers are of one type.
class Formula {
 public:
  Formula(Document& document, std::string_view text, const std::vector<Name>& operands, DType element)
      : document_(document), scanner_(text, "formula"), operands_(operands), element_(element) {}

  Name write() {
    if (scanner_.peek_number()) return document_.scalar(scanner_.real(), element_);
    const std::string word = scanner_.word();
    if (word == "Width") return document_.scalar(ops::bits_of(element_), element_);
    if (word == "Digits") return document_.scalar(digits(), element_);
    if (!scanner_.accept("(")) return operands_.at(static_cast<std::size_t>(word[0] - 'x'));
    std::vector<Name> given;
    do given.push_back(write());
    while (scanner_.accept(","));
    scanner_.expect(")");
    if (word == "Truth") return document_.cast(given[0], element_, DType::b8);
    if (word == "Number") return document_.cast(given[0], DType::b8, element_);
    if (word == "Fmod") return document_.node("Mod", given, {{"fmod", std::int64_t{1}}});
    return document_.node(word, given);
  }

 private:
  int digits() const {
    return ops::bits_of(element_) - (ops::kind(element_) == ops::TypeKind::signed_int ? 1 : 0);
  }

  Document& document_;
  Scanner scanner_;
  const std::vector<Name>& operands_;
  DType element_;
};

// Of integers order_key as it is. Of reals an f64 with NaN above infinity: other numbers in the same order.
Said key_of(Writer& writer, const Said& x) {
  Document& document = writer.document;
  if (ops::is_floating(x.dtype)) {
    const Name wide = document.cast(x.name, x.dtype, DType::f64);
    const Name largest = document.scalar(std::numeric_limits<double>::max(), DType::f64),
               infinity = document.scalar(std::numeric_limits<double>::infinity(), DType::f64);
    const Name key = document.node(
        "Where", {document.node("IsNaN", {wide}), infinity, document.node("Min", {wide, largest})});
    return {key, x.shape, DType::f64, true};
  }
  Name key = document.cast(x.name, x.dtype, DType::i64);
  if (ops::kind(x.dtype) == ops::TypeKind::unsigned_int) {
    const std::int64_t middle = std::numeric_limits<std::int64_t>::min() >> (64 - ops::bits_of(x.dtype));
    key = document.node("Add", {key, document.scalar(middle, DType::i64)});
  }
  return {key, x.shape, DType::i64, false};
}

// Aligned at their ends.
graph::Shape broadcast(graph::Shape one, const graph::Shape& other) {
  if (one.size() < other.size()) one.insert(one.begin(), other.size() - one.size(), 1);
  const std::size_t behind = one.size() - other.size();
  for (std::size_t d = 0; d < other.size(); ++d)
    if (one[behind + d] == index::Expr(1)) one[behind + d] = other[d];
  return one;
}

// What keys of reals are for.
constexpr std::array of_keys = {Pointwise::bitwise_not, Pointwise::lt, Pointwise::le, Pointwise::gt,
                                Pointwise::ge,          Pointwise::eq, Pointwise::ne};

}  // namespace

Said write_pointwise(Writer& writer, graph::NodeId id, Pointwise op) {
  const graph::Node& node = writer.node(id);
  if (op == Pointwise::order_key) return key_of(writer, writer[node.inputs[0]]);
  bool has_keys = false;
  graph::Shape shape;
  for (const graph::NodeId input : node.inputs) {
    has_keys = has_keys || writer[input].is_key;
    shape = broadcast(std::move(shape), writer[input].shape);
  }
  const auto all_keys =
      std::ranges::all_of(node.inputs, [&](graph::NodeId input) { return writer[input].is_key; });
  const std::string_view name = ops::name(op);
  if (has_keys && (!all_keys || std::ranges::find(of_keys, op) == of_keys.end()))
    writer.fail(id, "ONNX has no bits of reals, as ", name, " takes them of order_key");
  const DType element = writer[node.inputs.back()].dtype;
  const std::string_view formula = formula_of(op, element);
  if (formula.empty()) writer.fail(id, "ONNX has no operator for ", name, " of ", ops::name(element));
  const bool is_wide = is_widened(formula, element);
  const DType computed = is_wide ? DType::f32 : element;
  std::vector<Name> operands;
  for (const graph::NodeId input : node.inputs) {
    const Said& given = writer[input];
    operands.push_back(is_wide && given.dtype == element ? writer.document.cast(given.name, element, computed)
                                                         : given.name);
  }
  Name result = Formula(writer.document, formula, operands, computed).write();
  if (is_wide && node.dtype == element) result = writer.document.cast(result, computed, element);
  return {result, shape, has_keys && op == Pointwise::bitwise_not ? DType::f64 : node.dtype,
          has_keys && op == Pointwise::bitwise_not};
}

}  // namespace twinloom::onnx
