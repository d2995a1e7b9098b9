// See variants.h.
#include "core/package/variants.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/arrays.h"

namespace twinloom::package {

namespace {

using nlohmann::json;

// Enumerators by their numbers.
constexpr std::array<std::string_view, 4> STORAGES = {"parameter", "constant", "result", "temporary"};
constexpr std::array<std::string_view, 4> QUESTIONS = {"extent", "amount", "divisor", "whole"};

template <class Enum, std::size_t Count>
std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}
template <class Enum, std::size_t Count>
Enum named_in(const std::array<std::string_view, Count>& names, const json& text) {
  const auto found = std::ranges::find(names, text.get<std::string_view>());
  if (found == names.end()) throw Error(cat("'", escaped(text.get<std::string>()), "' is not known"));
  return static_cast<Enum>(found - names.begin());
}

json json_of(const std::vector<index::Expr>& exprs) {
  json list = json::array();
  for (const index::Expr& expr : exprs) list.push_back(index::print(expr));
  return list;
}
index::Expr expr_of(const json& text) { return index::parse(text.get<std::string_view>()); }
std::vector<index::Expr> exprs_of(const json& list) {
  std::vector<index::Expr> exprs;
  for (const json& text : list) exprs.push_back(expr_of(text));
  return exprs;
}

template <class Tag>
json json_of_ids(const std::vector<Id<Tag>>& ids) {
  json list = json::array();
  for (const Id<Tag> id : ids) list.push_back(id.index);
  return list;
}
// Each below `count`.
template <class AnyId>
std::vector<AnyId> ids_of(const json& list, std::size_t count) {
  std::vector<AnyId> ids;
  for (const json& number : list) {
    const auto index = number.get<std::uint32_t>();
    if (index >= count) throw Error(cat("number ", index, " is not below ", count));
    ids.push_back(AnyId{index});
  }
  return ids;
}

json json_of(const std::optional<std::int64_t>& bound) { return bound ? json(*bound) : json(nullptr); }
std::optional<std::int64_t> bound_of(const json& text) {
  return text.is_null() ? std::nullopt : std::optional(text.get<std::int64_t>());
}

json json_of(const lower::Value& value) {
  return {{"storage", name_in(STORAGES, value.storage)},
          {"name", value.name},
          {"node", value.node.index},
          {"parameter", value.parameter},
          {"result", value.result},
          {"row_major", value.row_major},
          {"barrier", value.barrier},
          {"dtype", ops::name(value.dtype)},
          {"shape", json_of(value.shape)},
          {"strides", json_of(value.strides)},
          {"count", index::print(value.count)}};
}
lower::Value value_of(const json& text, const graph::Graph& graph) {
  lower::Value value;
  value.storage = named_in<lower::Storage>(STORAGES, text.at("storage"));
  text.at("name").get_to(value.name);
  value.node = graph::NodeId{text.at("node").get<std::uint32_t>()};
  text.at("parameter").get_to(value.parameter);
  text.at("result").get_to(value.result);
  text.at("row_major").get_to(value.row_major);
  text.at("barrier").get_to(value.barrier);
  const auto dtype = ops::dtype_named(text.at("dtype").get<std::string_view>());
  if (!dtype) throw Error("a value is of no known type");
  value.dtype = *dtype;
  value.shape = exprs_of(text.at("shape"));
  value.strides = exprs_of(text.at("strides"));
  value.count = expr_of(text.at("count"));
  if (value.shape.size() != value.strides.size()) throw Error("a value has not a stride for each size");
  const bool is_parameter = value.storage == lower::Storage::parameter;
  if (is_parameter != (value.parameter >= 0) ||
      value.parameter >= static_cast<int>(graph.parameters().size()))
    throw Error(cat("a value lies in parameter ", value.parameter));
  if (value.result >= static_cast<int>(graph.results().size()))
    throw Error(cat("a value is result ", value.result));
  if (value.storage != lower::Storage::constant) return value;
  if (value.node.index >= graph.nodes().size()) throw Error("a constant is no node of the graph");
  const auto* constant = std::get_if<graph::Constant>(&graph[value.node].node);
  const auto* content = constant == nullptr ? nullptr : std::get_if<graph::Content>(&constant->value);
  if (content == nullptr) throw Error("a constant is no array");
  value.content = *content;
  return value;
}

json json_of(const runtime::Group& group) {
  return {{"name", group.name}, {"nodes", json_of_ids(group.nodes)}, {"nest", loops::print(group.nest)}};
}

// As [from, to].
json json_of(const std::vector<loops::InPlace>& pairs) {
  json list = json::array();
  for (const loops::InPlace& pair : pairs) list.push_back({pair.from.index, pair.to.index});
  return list;
}
std::vector<loops::InPlace> pairs_of(const json& list, const loops::Program& program, std::size_t arguments) {
  std::vector<loops::InPlace> pairs;
  for (const json& each : list) {
    const std::vector<loops::Buffer> ids = ids_of<loops::Buffer>(each, arguments);
    if (ids.size() != 2 || !loops::is_in_place(program, {ids[0], ids[1]}))
      throw Error(cat("kernel '", program.name, "' does not write in place what it is said to"));
    pairs.push_back({ids[0], ids[1]});
  }
  return pairs;
}

json json_of(const runtime::Step& step, const KeepPiece& keep) {
  json code = json::array();
  for (const std::string& piece : step.code) code.push_back(keep(piece));
  return {{"program", loops::print(step.program)},
          {"arguments", json_of_ids(step.arguments)},
          {"schedule", step.schedule},
          {"unit", step.unit},
          {"in_place", json_of(step.in_place)},
          {"code", std::move(code)}};
}
runtime::Step step_of(const json& text, const runtime::Variant& variant, const FindPiece& find) {
  runtime::Step step;
  step.program = loops::parse(text.at("program").get<std::string_view>());
  loops::verify(step.program, loops::Stage::program);
  step.arguments = ids_of<lower::ValueId>(text.at("arguments"), variant.values.size());
  const auto taken = std::ranges::count(step.program.buffers, false, &loops::BufferInfo::local);
  if (static_cast<std::size_t>(taken) != step.arguments.size())
    throw Error(
        cat("kernel '", step.program.name, "' takes ", taken, " arguments and has ", step.arguments.size()));
  text.at("schedule").get_to(step.schedule);
  text.at("unit").get_to(step.unit);
  step.in_place = pairs_of(text.at("in_place"), step.program, step.arguments.size());
  if (step.unit >= variant.groups.size()) throw Error("a step is part of no group");
  for (const json& number : text.at("code")) step.code.emplace_back(find(number.get<std::int64_t>()));
  return step;
}

}  // namespace

json json_of(const runtime::Variant& variant, std::vector<graph::Content>& arrays, const KeepPiece& keep) {
  json values = json::array(), groups = json::array(), missed = json::array(), steps = json::array();
  for (const lower::Value& value : variant.values) values.push_back(json_of(value));
  for (const runtime::Group& group : variant.groups) groups.push_back(json_of(group));
  for (const runtime::Missed& pair : variant.missed)
    missed.push_back({{"first", pair.first}, {"second", pair.second}, {"words", pair.words}});
  for (const runtime::Step& step : variant.steps) steps.push_back(json_of(step, keep));
  return {{"graph", graph::print(variant.graph, arrays)},
          {"values", std::move(values)},
          {"groups", std::move(groups)},
          {"missed", std::move(missed)},
          {"steps", std::move(steps)}};
}

runtime::Variant variant_of(const json& text, const std::vector<graph::Content>& arrays,
                            const FindPiece& find) {
  runtime::Variant variant;
  variant.graph = graph::parse(text.at("graph").get<std::string_view>(), arrays);
  for (const json& value : text.at("values")) variant.values.push_back(value_of(value, variant.graph));
  for (const json& group : text.at("groups"))
    variant.groups.push_back({group.at("name").get<std::string>(),
                              ids_of<graph::NodeId>(group.at("nodes"), variant.graph.nodes().size()),
                              loops::parse(group.at("nest").get<std::string_view>())});
  for (const json& pair : text.at("missed"))
    variant.missed.push_back({pair.at("first").get<std::size_t>(), pair.at("second").get<std::size_t>(),
                              pair.at("words").get<std::string>()});
  for (const json& step : text.at("steps")) variant.steps.push_back(step_of(step, variant, find));
  return variant;
}

json json_of(const loops::SizeClass& sizes) {
  json list = json::array();
  for (std::size_t q = 0; q < sizes.questions.size(); ++q) {
    const loops::SizeQuestion& question = sizes.questions[q];
    const loops::SizeAnswer& answer = sizes.answers[q];
    list.push_back({{"kind", name_in(QUESTIONS, question.kind)},
                    {"what", index::print(question.what)},
                    {"most", question.most},
                    {"low", json_of(answer.range.low)},
                    {"high", json_of(answer.range.high)},
                    {"divisor", answer.divisor}});
  }
  return list;
}
loops::SizeClass class_of(const json& list) {
  loops::SizeClass sizes;
  for (const json& text : list) {
    sizes.questions.push_back({named_in<loops::SizeQuestion::Kind>(QUESTIONS, text.at("kind")),
                               expr_of(text.at("what")), text.at("most").get<std::int64_t>()});
    sizes.answers.push_back(
        {{bound_of(text.at("low")), bound_of(text.at("high"))}, text.at("divisor").get<std::int64_t>()});
  }
  return sizes;
}

json json_of(const lower::Layouts& layouts) {
  json object = json::object();
  for (const auto& [parameter, strides] : layouts) object[cat(parameter)] = json_of(strides);
  return object;
}

lower::Layouts layouts_of(const json& text) {
  lower::Layouts layouts;
  for (const auto& [parameter, strides] : text.items()) layouts[std::stoi(parameter)] = exprs_of(strides);
  return layouts;
}

}  // namespace twinloom::package
