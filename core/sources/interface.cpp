// See interface.h.
#include "core/sources/interface.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/infer.h"

namespace twinloom::sources {

using lower::Storage;
using ops::DType;

namespace {

// What exported code must not take for a name: words of C++ that people call tensors, and names of its own.
constexpr std::array<std::string_view, 45> TAKEN = {
    "and",     "auto",     "bool",   "break", "case",      "char",     "class",  "const",    "default",
    "delete",  "do",       "double", "else",  "enum",      "export",   "false",  "float",    "for",
    "if",      "int",      "long",   "main",  "namespace", "new",      "not",    "operator", "or",
    "private", "public",   "return", "short", "signed",    "sizeof",   "static", "struct",   "switch",
    "throw",   "template", "this",   "true",  "union",     "unsigned", "void",   "while",    "xor"};
constexpr std::array<std::string_view, 31> OWN = {
    "std",     "twinloom",    "workspace", "memory",      "failure",   "buffers",   "sizes",    "own",
    "ok",      "check",       "offsets",   "floor_div",   "floor_mod", "least",     "greatest", "launch",
    "fail",    "whole_lines", "is_sample", "read_sample", "bytes_of",  "Integer",   "Bytes",    "Arguments",
    "Offsets", "Workspace",   "Run",       "run",         "stream",    "on_device", "can_run"};

class Names {
 public:
  explicit Names(const std::string& function) { taken_.insert(function); }
  std::string unique(std::string_view wanted) {
    std::string name = identifier(wanted);
    if (std::ranges::find(OWN, name) != OWN.end()) name += '_';
    const std::string stem = name;
    for (int number = 2; !taken_.insert(name).second; ++number) name = cat(stem, "_", number);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

std::string words_of(DType dtype, const graph::Shape& shape, const std::vector<index::Expr>& strides) {
  std::string words = cat(ops::name(dtype), graph::print_shape(shape));
  if (strides != index::contiguous_strides(shape))
    words += cat(", strides ", join(strides, ", ", [](const index::Expr& stride) { return print(stride); }));
  return words;
}

std::string words_of(const index::Symbol& symbol) {
  if (symbol == index::Symbol("seed")) return "of random numbers";
  if (symbol == index::Symbol("offset")) return "of random numbers: where in their sequence";
  if (symbol.name().find('.') != std::string_view::npos)
    return cat("the stride ", symbol.name(), " in elements: parameter and axis");
  return cat("the size ", symbol.name());
}

// Sizes first, then strides and random numbers.
std::vector<index::Symbol> symbols_of(const Project& project) {
  const std::set<index::Symbol> sizes = graph::size_symbols(project.graph);
  std::vector<index::Symbol> symbols(sizes.begin(), sizes.end());
  std::set<index::Symbol> others;
  for (const runtime::Step& step : project.variant.steps)
    for (const loops::SizeInfo& size : step.program.sizes) others.insert(size.symbol);
  for (const index::Symbol& symbol : others)
    if (!sizes.contains(symbol)) symbols.push_back(symbol);
  return symbols;
}

std::string words_of_result(const Project& project, const lower::Value& value) {
  std::string words;
  const std::span<const graph::Result> results = project.variant.graph.results();
  for (std::size_t r = 0; r < results.size(); ++r) {
    const graph::Result& result = results[r];
    const std::string name =
        result.name.empty() ? cat("result ", r) : cat("result ", r, " ", escaped(result.name));
    const std::string between = words.empty() ? "" : "; ";
    if (value.result == static_cast<int>(r)) {
      words += cat(between, name);
      if (result.kind == graph::Ownership::written)
        words +=
            cat(", what ", escaped(project.graph.parameters()[static_cast<std::size_t>(result.input)].name),
                " holds afterwards");
    } else if (result.kind == graph::Ownership::view && result.base == value.node) {
      words += cat(between, name, " is a view of it");
    }
  }
  return words;
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char letter : text) {
    const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= '0' && letter <= '9');
    if (plain || (letter == '_' && !name.ends_with('_')))
      name += letter;
    else if (!name.ends_with('_'))
      name += '_';
  }
  if (name.empty() || name[0] == '_' || (name[0] >= '0' && name[0] <= '9')) name = cat("t", name);
  if (std::ranges::find(TAKEN, name) != TAKEN.end()) name += '_';
  return name;
}

std::string c_type(DType dtype) {
  switch (ops::kind(dtype)) {
    case ops::TypeKind::floating:
      if (dtype == DType::f32) return "float";
      if (dtype == DType::f64) return "double";
      return "std::uint16_t";
    case ops::TypeKind::signed_int:
      return cat("std::int", ops::bits_of(dtype), "_t");
    case ops::TypeKind::unsigned_int:
      return cat("std::uint", ops::bits_of(dtype), "_t");
    case ops::TypeKind::boolean:
    case ops::TypeKind::narrow_float:
      return "std::uint8_t";
    case ops::TypeKind::packed_int:
      break;
  }
  throw Error(cat("no type of C++ holds an element of ", ops::name(dtype)));
}

Interface interface_of(const Project& project) {
  Names names(project.name);
  Interface interface;
  const runtime::Variant& variant = project.variant;
  interface.values.resize(variant.values.size());
  const std::span<const graph::Parameter> parameters = project.graph.parameters();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const auto* node = std::get_if<graph::NodeId>(&parameters[p].value);
    if (node == nullptr) continue;
    const std::string name = names.unique(parameters[p].name);
    const DType dtype = project.graph[*node].dtype;
    std::string words = cat(
        words_of(dtype, project.graph[*node].shape, index::contiguous_strides(project.graph[*node].shape)),
        ", not read");
    for (std::size_t v = 0; v < variant.values.size(); ++v) {
      const lower::Value& value = variant.values[v];
      if (value.storage != Storage::parameter || value.parameter != static_cast<int>(p)) continue;
      interface.values[v] = name;
      words = words_of(value.dtype, value.shape, value.strides);
    }
    interface.arguments.push_back({cat("const ", c_type(dtype), "*"), name, words});
  }
  interface.symbols = symbols_of(project);
  for (const index::Symbol& symbol : interface.symbols) {
    const std::string name = names.unique(symbol.name());
    interface.names.emplace(symbol, name);
    interface.arguments.push_back({"std::int64_t", name, words_of(symbol)});
  }
  for (std::size_t v = 0; v < variant.values.size(); ++v) {
    const lower::Value& value = variant.values[v];
    if (value.storage != Storage::result) continue;
    interface.values[v] = names.unique(value.name);
    interface.arguments.push_back(
        {cat(c_type(value.dtype), "*"), interface.values[v],
         cat(words_of(value.dtype, value.shape, value.strides), ": ", words_of_result(project, value)),
         true});
  }
  return interface;
}

std::string parameter_list(const Interface& interface) {
  return join(interface.arguments, ", ",
              [](const Argument& argument) { return cat(argument.type, " ", argument.name); });
}

std::string size_parameters(const Interface& interface) {
  return join(interface.symbols, ", ",
              [&](const index::Symbol& symbol) { return cat("std::int64_t ", interface.names.at(symbol)); });
}
std::string size_arguments(const Interface& interface) {
  return join(interface.symbols, ", ",
              [&](const index::Symbol& symbol) { return interface.names.at(symbol); });
}

// How expressions are printed is C++, but for the dots of symbols.
std::string expression(const index::Expr& expr, const Interface& interface) {
  index::Substitution names;
  for (const auto& [symbol, name] : interface.names)
    if (symbol.name() != name) names.emplace(symbol, index::Symbol(name));
  return index::print(names.empty() ? expr : index::substitute(expr, names));
}

std::string literal(std::string_view text) { return cat("\"", escaped(text), "\""); }

}  // namespace twinloom::sources
