// Walks the statements of one module in order and evaluates each over the graph builder. See read.h.
#include "frontends/fx/read.h"

#include <algorithm>

#include "frontends/fx/apply.h"
#include "frontends/fx/calls.h"
#include "frontends/fx/complex.h"
#include "frontends/fx/fail.h"
#include "frontends/fx/memory.h"
#include "frontends/fx/numbers.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"
#include "frontends/fx/requirements.h"
#include "frontends/fx/results.h"
#include "frontends/fx/size_names.h"
#include "frontends/fx/sizes.h"
#include "frontends/fx/strides.h"
#include "frontends/fx/syntax.h"
#include "frontends/fx/torch_dtypes.h"

namespace twinloom::fx {

namespace {

using graph::Builder;
using graph::Tensor;
using index::Expr;

class Reader {
 public:
  Reader(const Module& module, const ReadOptions& options)
      : module_(module), options_(options), names_(module) {
    builder_.limits = options.limits;
  }

  graph::Graph read() {
    const CallsOf calls(module_);
    check_operators(calls);
    elements_ = calls.taken;
    for (const Parameter& parameter : module_.parameters) add_parameter(parameter);
    for (const Statement& statement : module_.statements) add_statement(statement);
    add_results();
    return builder_.take();
  }

 private:
  // Errors of the builder get the line in front.
  template <class Work>
  auto at_line(int line, Work&& work) const -> decltype(work()) {
    try {
      return work();
    } catch (const Error& error) {
      if (error.location().line != 0) throw;
      const std::string& given = error.location().node;
      const std::string& node = given.empty() ? builder_.origin.name : given;
      // Requirements begin with the line themselves, for the run that they may wait for.
      if (std::string_view(error.what()).starts_with("FX graph line"))
        throw Error(error.what(), {node, line});
      fail(line, error.what(), node);
    }
  }

  void add_parameter(const Parameter& parameter) {
    const int line = parameter.place.line;
    const auto annotation = names_.annotation(parameter.annotation, line);
    if (!annotation) fail(line, cat("parameter '", escaped(parameter.name), "' has no type"));
    if (!parameters_.emplace(parameter.name, static_cast<int>(parameters_.size())).second) {
      fail(line, cat("there are two parameters '", escaped(parameter.name), "'"));
    }
    context_.line = line;
    at_line(line, [&] {
      builder_.origin = {parameter.place.file, parameter.place.file_line, parameter.name, "", 0};
      if (annotation->number) {
        values_[parameter.name] = number_parameter(parameter.name, *annotation->number);
        return;
      }
      graph::Shape shape;
      for (const PrintedNumber& printed : annotation->shape) {
        const auto size = names_.size(printed);
        if (!size) fail(line, cat("'", escaped(printed.text), "' is not a size"));
        shape.push_back(*size);
      }
      if (annotation->is_complex) shape.emplace_back(2);
      const Tensor input = builder_.input(parameter.name, *annotation->dtype, std::move(shape));
      const auto strides = annotation->strides ? names_.sizes(*annotation->strides) : std::nullopt;
      Layout layout = annotation->is_complex ? Layout{} : layout_of(input, strides);
      layout.gaps = layout.gaps || (annotation->strides && (annotation->is_complex || !strides));
      if (strides && !layout.gaps && layout.order.empty()) context_.row_major.insert(input.id());
      Item item = annotation->is_complex ? complex_of(input) : Item{input};
      values_[parameter.name] = memory_.parameter(std::move(item), parameters_.at(parameter.name), layout);
      for (const PrintedNumber& printed : annotation->shape) require_value(printed);
    });
  }

  // What must hold for a printed size to have a value, where it is of sizes that are told.
  void require_value(const PrintedNumber& printed) {
    for (const auto& [condition, words] : printed.requirements) {
      if (const auto resolved = names_.resolved(condition))
        builder_.graph().require(*resolved, cat("FX graph line ", context_.line, ": ", words));
    }
  }

  // An integer is a size of the graph, a truth one that is 0 or 1, a real a tensor of f64 without axes. What
  // the sizes tell of it is checked; a number that they do not tell has a symbol of its own.
  Item number_parameter(const std::string& name, const PrintedNumber& printed) {
    const auto kind = printed.number ? kind_of(*printed.number) : Number::Kind::integer;
    if (kind == Number::Kind::real) {
      const Tensor tensor = builder_.input(name, ops::DType::f64, {});
      return {Number{Number::Kind::real, std::nullopt, {}, [tensor](Builder&) { return tensor; }}};
    }
    if (kind == Number::Kind::truth) return truth_parameter(name, *printed.number);
    const Expr size = names_.size(printed).value_or(names_.make_signed(name));
    builder_.size_parameter(name, size);
    require_value(printed);
    return {size};
  }

  Item truth_parameter(const std::string& name, const Item& printed) {
    const auto value = size_of(printed);
    if (const auto told = value ? names_.resolved(*value) : std::nullopt) {
      builder_.size_parameter(name, *told);
      const auto* number = printed.get<Number>();
      const auto holds = number != nullptr ? names_.resolved(number->holds) : std::nullopt;
      return truth_item(*told, holds.value_or(index::Condition{{{0, *told}}}));
    }
    const Expr symbol(names_.make_symbol(name));
    builder_.size_parameter(name, symbol);
    builder_.graph().require({{{symbol, 2}}}, cat("the truth '", name, "' must be 0 or 1"));
    return truth_item(symbol, {{{0, symbol}}});
  }

  void add_statement(const Statement& statement) {
    const int line = statement.place.line;
    const auto annotation = names_.annotation(statement.annotation, line);
    builder_.origin = {statement.place.file, statement.place.file_line, statement.name, "", 0};
    context_.line = line;
    context_.printed = annotation ? printed_shape(*annotation) : std::nullopt;
    const auto taken = elements_.find(statement.name);
    context_.elements = taken == elements_.end() ? 0 : taken->second;
    values_[statement.name] = at_line(line, [&] {
      Item item = evaluate(*statement.value, line);
      if (annotation) {
        item = with_printed_type(item, *annotation);
        check(item, *annotation, statement);
      }
      return item;
    });
  }

  static Item with_printed_type(const Item& item, const Annotation& annotation) {
    const auto* tensor = item.get<Tensor>();
    if (!item.typed_by_text || tensor == nullptr || !annotation.dtype) return item;
    Item typed = item;
    typed.value = graph::cast(*tensor, *annotation.dtype);
    typed.typed_by_text = false;
    return typed;
  }

  // Nothing where a size is over names that no parameter tells: the operator alone says what it is.
  std::optional<graph::Shape> printed_shape(const Annotation& annotation) const {
    return annotation.dtype ? names_.sizes(annotation.shape) : std::nullopt;
  }

  // The printed type must be what the operator gives; sizes that may be equal become requirements.
  void check(const Item& item, const Annotation& annotation, const Statement& statement) {
    const int line = statement.place.line;
    const auto* tensor = item.get<Tensor>();
    if (annotation.number || tensor == nullptr) {
      if (annotation.number.has_value() == kind_of(item).has_value()) return;
      fail(line, cat("'", escaped(statement.name), "' is ", describe(item), ", the text says ",
                     escaped(statement.annotation)));
    }
    const graph::Shape shape = tensor->shape();
    bool equal = tensor->dtype() == *annotation.dtype && shape.size() == annotation.shape.size() &&
                 item.imaginary.has_value() == annotation.is_complex;
    for (std::size_t i = 0; equal && i < shape.size(); ++i) {
      const auto told = names_.size(annotation.shape[i]);
      if (!told) continue;
      const Expr& given = *told;
      if (builder_.graph().facts().proves_equal(shape[i], given)) continue;
      if (index::constant_of(shape[i]) && index::constant_of(given))
        equal = false;
      else
        require_equal(shape[i], given, statement, i);
    }
    if (!equal) {
      fail(line, cat("'", escaped(statement.name), "' is ", describe(item), ", the text says ",
                     escaped(statement.annotation)));
    }
  }

  void require_equal(const Expr& a, const Expr& b, const Statement& statement, std::size_t axis) {
    builder_.graph().require({{index::Less{a, b + 1}, index::Less{b, a + 1}}},
                             cat("axis ", axis, " of '", statement.name, "' must be ", b, ", it is ", a));
    builder_.graph().facts().assume_equal(a, b);
  }

  Item evaluate(const Expression& expression, int line) {
    return match(
        expression, [](const None&) { return Item{}; }, [](const Boolean& node) { return Item{node.value}; },
        [](const Integer& node) { return Item{Expr(node.value)}; },
        [](const Real& node) { return Item{node.value}; }, [](const Text& node) { return Item{node.value}; },
        [&](const Name& node) { return look_up(node.name, line); },
        [&](const List& node) { return list(node, line); },
        [&](const Call& node) { return call(node, line); },
        [&](const Subscript& node) { return subscript(node, line); },
        [&](const Slice&) -> Item { fail(line, "a slice does not stand alone"); },
        [&](const Operation& node) { return operation(node, line); });
  }

  Item look_up(const std::string& name, int line) {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    if (const auto dtype = dtype_of_torch(name)) return {*dtype};
    if (name.starts_with("self.")) return constant(name.substr(5), line);
    if (name.starts_with("torch.")) return {name};  // layouts and memory formats
    std::vector<std::string> known;
    for (const auto& [key, item] : values_) known.push_back(key);
    const std::string near = nearest_name(name, known);
    fail(line, cat("there is no value '", escaped(name), "'",
                   near.empty() ? "" : cat("; did you mean '", escaped(near), "'?")));
  }

  Item constant(const std::string& name, int line) {
    const auto found = options_.constants.find(name);
    if (found == options_.constants.end()) {
      fail(line, cat("the text reads the constant self.", escaped(name),
                     ", which was not given; name it const_", escaped(name), " in the inputs' .npz"));
    }
    return {builder_.constant(found->second)};
  }

  Item list(const List& node, int line) {
    Items items;
    for (const Child& child : node.items) items.push_back(evaluate(*child, line));
    return {std::move(items)};
  }

  Item call(const Call& node, int line) {
    if (node.target == "device" || node.target == "torch.device") return {std::string("device")};
    Items positional;
    for (const Child& child : node.arguments) positional.push_back(evaluate(*child, line));
    std::vector<std::pair<std::string, Item>> keywords;
    for (const Keyword& keyword : node.keywords)
      keywords.emplace_back(keyword.name, evaluate(*keyword.value, line));
    return fx::call(node.target, std::move(positional), std::move(keywords), context_, memory_);
  }

  Item subscript(const Subscript& node, int line) {
    return element_of(evaluate(*node.base, line), evaluate(*node.index, line));
  }

  // Arithmetic on sizes; on tensors only what the operator table has a name for.
  Item operation(const Operation& node, int line) {
    Items operands;
    for (const Child& child : node.operands) operands.push_back(evaluate(*child, line));
    if (const auto number = arithmetic(node.op, operands, rules_of(context_))) return *number;
    static const std::map<std::string_view, std::string_view> rows = {{"+", "add"},
                                                                      {"-", "sub"},
                                                                      {"*", "mul"},
                                                                      {"/", "div"},
                                                                      {"//", "floor_divide"},
                                                                      {"%", "remainder"},
                                                                      {"**", "pow"},
                                                                      {"neg", "neg"},
                                                                      {"<", "lt"},
                                                                      {"<=", "le"},
                                                                      {">", "gt"},
                                                                      {">=", "ge"},
                                                                      {"==", "eq"},
                                                                      {"!=", "ne"},
                                                                      {"&", "bitwise_and"},
                                                                      {"|", "bitwise_or"},
                                                                      {"^", "bitwise_xor"},
                                                                      {"~", "bitwise_not"},
                                                                      {"<<", "__lshift__"},
                                                                      {">>", "__rshift__"}};
    const auto found = rows.find(node.op);
    if (found == rows.end()) fail(line, cat("'", node.op, "' is not known"));
    return apply(*find_operator(found->second), {context_, std::string(found->second), operands, {}},
                 memory_);
  }

  void add_results() {
    const Place& place = module_.result_place;
    const int line = place.line;
    builder_.origin = {place.file, place.file_line, "", "", 0};  // operators may stand in `return`
    const Item result = at_line(line, [&] { return evaluate(*module_.result, line); });
    builder_.origin = {};
    const auto* items = result.get<Items>();
    at_line(line, [&] { fx::add_results(items != nullptr ? *items : Items{result}, context_, memory_); });
  }

  const Module& module_;
  const ReadOptions& options_;
  Builder builder_{"graph"};
  std::map<std::string, Item> values_;
  std::map<std::string, int> parameters_;
  std::map<std::string, std::size_t> elements_;  // of lists: so many are taken
  SizeNames names_;
  Memory memory_;
  Context context_{builder_, 0, {}, 0, {}, {}};
};

Module module_of(std::string_view text, const ReadOptions& options) {
  std::vector<Module> modules = parse_modules(text);
  if (options.graph < 0 || static_cast<std::size_t>(options.graph) >= modules.size()) {
    throw Error(
        cat("graph ", options.graph, " was asked for; the text holds ", modules.size(), ", counted from 0"));
  }
  return std::move(modules[static_cast<std::size_t>(options.graph)]);
}

}  // namespace

graph::Graph read(std::string_view text, const ReadOptions& options) {
  const Module module = module_of(text, options);
  return Reader(module, options).read();
}

std::vector<std::optional<graph::Shape>> parameter_strides(std::string_view text,
                                                           const ReadOptions& options) {
  std::vector<std::optional<graph::Shape>> all;
  const Module module = module_of(text, options);
  SizeNames names(module);
  for (const Parameter& parameter : module.parameters) {
    const auto annotation = names.annotation(parameter.annotation, parameter.place.line);
    all.push_back(annotation && annotation->strides ? names.sizes(*annotation->strides) : std::nullopt);
  }
  return all;
}

int count_modules(std::string_view text) { return static_cast<int>(parse_modules(text).size()); }

std::vector<std::string> operators() {
  const std::vector<std::string_view> names = operator_names();
  return {names.begin(), names.end()};
}

}  // namespace twinloom::fx
