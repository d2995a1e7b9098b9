// A graph call by call, by the C API. See handles.h.
#include <limits>

#include "api/c/dlpack.h"
#include "api/c/handles.h"
#include "frontends/fx/call_builder.h"

using twinloom::cat;
using twinloom::Error;
using twinloom::c::checked;
using twinloom::c::guarded;
using twinloom::fx::Item;
using twinloom::fx::Items;

struct twinloom_builder {
  explicit twinloom_builder(std::string graph_name)
      : calls(std::make_unique<twinloom::fx::CallBuilder>(graph_name)), name(std::move(graph_name)) {}
  std::unique_ptr<twinloom::fx::CallBuilder> calls;
  std::string name;
  Items values;
  twinloom::c::Port port{"", TWINLOOM_NONE};  // what was asked for last
};

namespace {

constexpr int MOST_NESTING = 8;  // of lists: operators take lists of lists at most

const Item& value_of(const twinloom_builder& builder, std::int64_t number) {
  if (number < 0 || static_cast<std::size_t>(number) >= builder.values.size())
    throw Error(cat("there is no value ", number, "; the builder has given ", builder.values.size()));
  return builder.values[static_cast<std::size_t>(number)];
}

std::int64_t add_value(twinloom_builder& builder, Item item) {
  builder.values.push_back(std::move(item));
  return static_cast<std::int64_t>(builder.values.size()) - 1;
}

twinloom::index::Expr size_of(std::string_view text, std::string_view what) {
  try {
    return twinloom::index::parse(text);
  } catch (const Error& error) {
    throw Error(cat(what, ", '", twinloom::escaped(text), "': ", error.what()));
  }
}

Item item_of(const twinloom_builder& builder, const twinloom_operand& operand, int nesting = 0) {
  switch (operand.kind) {
    case TWINLOOM_OPERAND_NONE:
      return {};
    case TWINLOOM_OPERAND_VALUE:
      return value_of(builder, operand.as.integer);
    case TWINLOOM_OPERAND_TRUTH:
      return {operand.as.integer != 0};
    case TWINLOOM_OPERAND_INTEGER:
      return {twinloom::index::Expr(operand.as.integer)};
    case TWINLOOM_OPERAND_REAL:
      return {operand.as.real};
    case TWINLOOM_OPERAND_TEXT:
      return {std::string(&checked(operand.as.text, "an operand's text"))};
    case TWINLOOM_OPERAND_DTYPE:
      return {twinloom::c::dtype_of(operand.as.dtype, "an operand")};
    case TWINLOOM_OPERAND_SIZE:
      return {size_of(&checked(operand.as.text, "an operand's text"), "an operand's size")};
    case TWINLOOM_OPERAND_LIST:
      break;
    default:
      throw Error(cat("an operand is of kind ", operand.kind,
                      "; expected TWINLOOM_OPERAND_NONE (0) to _LIST (",
                      static_cast<int>(TWINLOOM_OPERAND_LIST), ")"));
  }
  if (nesting == MOST_NESTING) throw Error(cat("operands are lists in more than ", MOST_NESTING, " lists"));
  Items items;
  const auto& list = operand.as.list;
  if (list.count != 0) checked(list.operands, "an operand's list");
  for (std::size_t i = 0; i < list.count; ++i)
    items.push_back(item_of(builder, list.operands[i], nesting + 1));
  return {std::move(items)};
}

struct Operands {
  Items positional;
  std::vector<std::pair<std::string, Item>> keywords;
};
Operands operands_of(const twinloom_builder& builder, const twinloom_operand* operands, std::size_t count) {
  Operands result;
  if (count != 0) checked(operands, "operands");
  for (std::size_t i = 0; i < count; ++i) {
    Item item = item_of(builder, operands[i]);
    if (operands[i].keyword != nullptr) {
      result.keywords.emplace_back(operands[i].keyword, std::move(item));
    } else if (result.keywords.empty()) {
      result.positional.push_back(std::move(item));
    } else {
      throw Error(cat("operand ", i, " has no keyword and stands behind one that has"));
    }
  }
  return result;
}

// What a call gave as `count` values: itself, or the first elements of a list.
Items given(const std::string& target, const Item& item, std::size_t count) {
  const auto* list = item.get<Items>();
  const std::size_t there = list == nullptr ? 1 : list->size();
  if (count > there) throw Error(cat(target, ": ", count, " values were asked for; it gives ", there));
  return list == nullptr ? Items(count, item)
                         : Items(list->begin(), list->begin() + static_cast<std::ptrdiff_t>(count));
}

twinloom::c::Port port_of(const Item& item) {
  if (const auto* tensor = item.get<twinloom::graph::Tensor>()) return {"", tensor->dtype(), tensor->shape()};
  return {"", item.is_none() ? TWINLOOM_NONE : TWINLOOM_SIZE};
}

}  // namespace

twinloom_error* twinloom_builder_new(const char* name, twinloom_builder** builder) {
  return guarded([&] {
    checked(builder, "builder");
    *builder = new twinloom_builder(name == nullptr ? "graph" : name);
  });
}

void twinloom_builder_free(twinloom_builder* builder) { delete builder; }

twinloom_error* twinloom_builder_input(twinloom_builder* builder, const char* name, DLDataType dtype,
                                       size_t ndim, const char* const* sizes, int64_t* value) {
  return guarded([&] {
    checked(value, "value");
    twinloom_builder& into = checked(builder, "builder");
    const std::string known = &checked(name, "name");
    const std::string what = cat("input '", twinloom::escaped(known), "'");
    if (ndim != 0) checked(sizes, "sizes");
    twinloom::graph::Shape shape;
    for (std::size_t axis = 0; axis < ndim; ++axis)
      shape.push_back(size_of(&checked(sizes[axis], cat(what, ": size ", axis)), cat(what, ": size ", axis)));
    *value = add_value(into, into.calls->input(known, twinloom::c::dtype_of(dtype, what), std::move(shape)));
  });
}

twinloom_error* twinloom_builder_size(twinloom_builder* builder, const char* name, int64_t* value) {
  return guarded([&] {
    checked(value, "value");
    twinloom_builder& into = checked(builder, "builder");
    const std::string known = &checked(name, "name");
    *value = add_value(into, into.calls->size(known, twinloom::index::Symbol(known)));
  });
}

twinloom_error* twinloom_builder_constant(twinloom_builder* builder, const DLTensor* tensor, int64_t* value) {
  return guarded([&] {
    checked(value, "value");
    twinloom_builder& into = checked(builder, "builder");
    *value = add_value(into, into.calls->constant(twinloom::c::array_of(tensor, "the constant")));
  });
}

twinloom_error* twinloom_builder_origin(twinloom_builder* builder, const char* name, const char* file,
                                        int64_t line) {
  return guarded([&] {
    twinloom_builder& into = checked(builder, "builder");
    if (line < 0 || line > std::numeric_limits<int>::max()) throw Error(cat("line ", line, " is of no file"));
    into.calls->set_origin(name == nullptr ? "" : name, file == nullptr ? "" : file, static_cast<int>(line));
  });
}

twinloom_error* twinloom_builder_call(twinloom_builder* builder, const char* target,
                                      const twinloom_operand* operands, size_t operand_count, int64_t* values,
                                      size_t value_count) {
  return guarded([&] {
    twinloom_builder& into = checked(builder, "builder");
    const std::string called = &checked(target, "target");
    if (value_count != 0) checked(values, "values");
    auto [positional, keywords] = operands_of(into, operands, operand_count);
    const Item item = into.calls->call(called, std::move(positional), std::move(keywords), value_count);
    const Items parts = given(called, item, value_count);
    for (std::size_t i = 0; i < parts.size(); ++i) values[i] = add_value(into, parts[i]);
  });
}

twinloom_error* twinloom_builder_port(twinloom_builder* builder, int64_t value, twinloom_port* port) {
  return guarded([&] {
    twinloom_builder& asked = checked(builder, "builder");
    asked.port = port_of(value_of(asked, value));
    asked.port.write(port);
  });
}

twinloom_error* twinloom_builder_finish(twinloom_builder* builder, const int64_t* values,
                                        const char* const* names, size_t count, twinloom_graph** graph) {
  return guarded([&] {
    checked(graph, "graph");
    twinloom_builder& done = checked(builder, "builder");
    if (count != 0) checked(values, "values");
    Items results;
    std::vector<std::string> known;
    for (std::size_t i = 0; i < count; ++i) {
      results.push_back(values[i] == -1 ? Item{} : value_of(done, values[i]));
      if (names != nullptr) known.emplace_back(&checked(names[i], cat("the name of result ", i)));
    }
    *graph = new twinloom_graph(done.calls->take(results, known));
    done = twinloom_builder(done.name);
  });
}
