// The header of the exported function and its body: guards, memory, kernels in order.
#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/graph/assertion.h"
#include "core/graph/infer.h"
#include "core/loops/rewrite.h"
#include "core/sources/interface.h"
#include "core/sources/workspace.h"

namespace twinloom::sources {

using lower::Storage;

namespace {

class FunctionWriter {
 public:
  explicit FunctionWriter(const Project& project)
      : project_(project), interface_(interface_of(project)), workspace_(workspace_of(project.variant)) {}

  std::string header();
  std::string source();

 private:
  bool has_workspace() const { return !workspace_.slots.empty(); }
  // ", cudaStream_t stream"
  std::string stream_parameter() const {
    const std::string type = project_.target.stream_type();
    return type.empty() ? "" : cat(", ", type, " stream");
  }
  bool may_fail() const;
  std::string text(const index::Expr& expr) const { return expression(expr, interface_); }
  void write_other_results();
  void write_declarations();
  void write_constants();
  void write_offsets();
  void write_words();
  void write_guards();
  void write_guard(const std::string& condition, const std::string& words);
  void write_class_guards();
  void write_step(std::size_t step);
  std::string pointer(std::size_t value) const;

  const Project& project_;
  Interface interface_;
  Workspace workspace_;
  Writer writer_;
  std::set<std::string> guarded_;  // conditions that are checked already
};

bool FunctionWriter::may_fail() const {
  return std::ranges::any_of(project_.variant.steps, [](const runtime::Step& step) {
    return loops::looks_up_indices(*step.program.body);
  });
}

std::string FunctionWriter::header() {
  writer_.line("// ", project_.name, "(): a graph of tensor operations, compiled by Twinloom for ",
               project_.target.describe(), ", mode ", project_.mode, ".");
  writer_.line("// Tensors are pointers to their element 0. What is not said to have strides is row-major.");
  writer_.line("#pragma once");
  writer_.line();
  writer_.line("#include <cstddef>");
  writer_.line("#include <cstdint>");
  for (const std::string& include : project_.target.interface_includes()) writer_.line(include);
  writer_.line();
  for (const Argument& argument : interface_.arguments)
    writer_.line("//   ", argument.name, "  ", argument.result ? "to " : "", argument.words);
  write_other_results();
  if (has_workspace())
    writer_.line("//   workspace  so many bytes as ", project_.name,
                 "_workspace_bytes says, at a multiple of 64; null: it is allocated");
  for (const std::string& words : project_.target.interface_words()) writer_.line("// ", words);
  writer_.line(
      "// Throws std::invalid_argument where sizes do not fit the graph, and std::out_of_range where an "
      "element");
  writer_.line("// is used as an index and is none.");
  writer_.line("void ", project_.name, "(", parameter_list(interface_), stream_parameter(),
               has_workspace() ? ", void* workspace = nullptr" : "", ");");
  if (has_workspace())
    writer_.line("std::size_t ", project_.name, "_workspace_bytes(", size_parameters(interface_), ");");
  return writer_.take();
}

// Of results that nothing is written for.
void FunctionWriter::write_other_results() {
  const std::span<const graph::Result> results = project_.graph.results();
  for (std::size_t r = 0; r < results.size(); ++r) {
    const graph::Result& result = results[r];
    if (result.kind == graph::Ownership::input)
      writer_.line("// Result ", r, " is a view of parameter ",
                   escaped(project_.graph.parameters()[static_cast<std::size_t>(result.input)].name),
                   ", or all of it.");
    if (result.kind == graph::Ownership::size)
      writer_.line("// Result ", r, " is the number ", print(result.size), ".");
  }
}

void FunctionWriter::write_declarations() {
  writer_.line("// ", project_.name, "(): see ", project_.name, ".h. The kernels are in kernels/.");
  writer_.line("#include \"", project_.name, ".h\"");
  writer_.line();
  writer_.line("#include \"launch.h\"");
  writer_.line();
  writer_.line("using namespace twinloom::exported;");
  writer_.line();
  for (std::size_t step = 0; step < project_.kernels.size(); ++step)
    writer_.line(project_.target.declaration(project_.variant.steps[step].program, project_.kernels[step]));
  writer_.line();
}

// The assembler puts the bytes of the graph's arrays into the object.
void FunctionWriter::write_constants() {
  for (std::size_t v = 0; v < project_.variant.values.size(); ++v) {
    const lower::Value& value = project_.variant.values[v];
    if (value.storage != Storage::constant) continue;
    const std::string name = cat(project_.name, "_", value.name);
    interface_.values[v] = project_.target.constant(name, value.content->bytes.size());
    writer_.line("// ", ops::name(value.dtype), graph::print_shape(value.shape), ", an array of the graph.");
    writer_.line("asm(\".section .rodata\\n.balign 64\\n", name, ":\\n.incbin \\\"\" CONSTANTS \"/",
                 value.name, ".bin\\\"\\n.previous\");");
    writer_.line("extern \"C\" const unsigned char ", name, "[];");
    writer_.line();
  }
}

void FunctionWriter::write_offsets() {
  if (!has_workspace()) return;
  writer_.line("// Where values between kernels begin, in bytes; the last is the size of all.");
  writer_.line("struct Offsets {");
  for (std::size_t s = 0; s <= workspace_.slots.size(); ++s) writer_.line("  Integer slot", s, ";");
  writer_.line("};");
  writer_.line("Offsets offsets_of(", size_parameters(interface_), ") {");
  writer_.line("  Offsets offsets{};");
  for (std::size_t s = 0; s < workspace_.slots.size(); ++s) {
    const std::vector<index::Expr>& all = workspace_.slots[s].bytes;
    std::string bytes = text(all[0]);
    for (std::size_t other = 1; other < all.size(); ++other)
      bytes = cat("greatest(", bytes, ", ", text(all[other]), ")");
    writer_.line("  offsets.slot", s + 1, " = offsets.slot", s, " + whole_lines(", bytes, ");");
  }
  writer_.line("  return offsets;");
  writer_.line("}");
  writer_.line();
}

// What an index that is out of range is called, by node.
void FunctionWriter::write_words() {
  std::map<int, std::string> words;
  const graph::Graph& graph = project_.variant.graph;
  for (const runtime::Step& step : project_.variant.steps) {
    loops::for_each_stmt(*step.program.body, [&](const loops::Stmt& stmt) {
      const auto* index = std::get_if<loops::Index>(&stmt.node);
      if (index == nullptr || index->node < 0) return;
      const graph::NodeId node{static_cast<std::uint32_t>(index->node)};
      const auto asserted = graph::words_of_assertion(graph[node]);
      words[index->node] =
          cat(asserted ? "true, " : "false, ", literal(asserted ? *asserted : graph::describe(graph, node)));
    });
  }
  writer_.line("// Of the first element that is used as an index and is none, or breaks an assertion.");
  writer_.line("void check(const FailureRecord& failure) {");
  writer_.line("  if (failure.claimed == 0) return;");
  for (const auto& [node, text] : words)
    writer_.line("  if (failure.node == ", node, ") fail(failure, ", text, ");");
  writer_.line("  fail(failure, false, \"an index\");");
  writer_.line("}");
  writer_.line();
}

void FunctionWriter::write_guard(const std::string& condition, const std::string& words) {
  if (!guarded_.insert(condition).second) return;
  writer_.line("  if (!(", condition, "))");
  writer_.line("    throw std::invalid_argument(", words, ");");
}

void FunctionWriter::write_class_guards() {
  const loops::SizeClass& sizes = project_.variant.sizes;
  for (std::size_t q = 0; q < sizes.questions.size(); ++q) {
    const std::string what = text(sizes.questions[q].what);
    const auto guard = [&](const std::string& condition, const std::string& expected) {
      write_guard(condition, cat(literal(cat(project_.name, ": ", what, " is ")), " + std::to_string(", what,
                                 ") + ", literal(cat("; these kernels are for ", expected))));
    };
    const loops::SizeAnswer& answer = sizes.answers[q];
    if (answer.range.low && *answer.range.low > 0)
      guard(cat(what, " >= ", *answer.range.low), cat("at least ", *answer.range.low));
    if (answer.range.high) guard(cat(what, " <= ", *answer.range.high), cat("at most ", *answer.range.high));
    if (answer.divisor > 1)
      guard(cat("floor_mod(", what, ", ", answer.divisor, ") == 0"), cat("multiples of ", answer.divisor));
  }
}

void FunctionWriter::write_guards() {
  for (const index::Symbol& symbol : graph::size_symbols(project_.graph)) {
    const std::string& name = interface_.names.at(symbol);
    write_guard(cat(name, " >= 1"), cat(literal(cat(project_.name, ": the size ", name, " is ")),
                                        " + std::to_string(", name, ") + \"; expected at least 1\""));
  }
  for (const graph::Require& require : project_.graph.requirements()) {
    const std::string condition = join(require.condition.all, " && ", [&](const index::Less& less) {
      return cat(text(less.a), " < ", text(less.b));
    });
    write_guard(condition, literal(cat(project_.name, ": ", require.message, ": ", print(require.condition),
                                       " does not hold")));
  }
  write_class_guards();
}

std::string FunctionWriter::pointer(std::size_t value) const {
  const lower::Value& info = project_.variant.values[value];
  switch (info.storage) {
    case Storage::parameter:
      return cat("const_cast<", c_type(info.dtype), "*>(", interface_.values[value], ")");
    case Storage::constant:
    case Storage::result:
      return interface_.values[value];
    case Storage::temporary:
      return cat("memory + offsets.slot", *workspace_.slot_of[value]);
  }
  return {};
}

void FunctionWriter::write_step(std::size_t at) {
  const runtime::Step& step = project_.variant.steps[at];
  const Call call{step.program, project_.kernels[at],
                  join(step.arguments, ", ", [&](lower::ValueId id) { return pointer(id.index); }),
                  join(step.program.sizes, ", ",
                       [&](const loops::SizeInfo& size) { return interface_.names.at(size.symbol); }),
                  [this](const index::Expr& expr) { return text(expr); }};
  writer_.line("  // kernels/", call.function, project_.target.suffix());
  writer_.line("  ", project_.target.launch(call), ";");
}

std::string FunctionWriter::source() {
  write_declarations();
  write_constants();
  if (has_workspace() || may_fail()) {
    writer_.line("namespace {");
    writer_.line();
    write_offsets();
    if (may_fail()) write_words();
    writer_.line("}  // namespace");
    writer_.line();
  }
  if (has_workspace()) {
    writer_.line("std::size_t ", project_.name, "_workspace_bytes(", size_parameters(interface_), ") {");
    writer_.line("  return std::size_t(offsets_of(", size_arguments(interface_), ").slot",
                 workspace_.slots.size(), ");");
    writer_.line("}");
    writer_.line();
  }
  writer_.line("void ", project_.name, "(", parameter_list(interface_), stream_parameter(),
               has_workspace() ? ", void* workspace" : "", ") {");
  write_guards();
  writer_.line("  Run run", stream_parameter().empty() ? "" : "(stream)", ";");
  if (has_workspace()) {
    writer_.line("  const Offsets offsets = offsets_of(", size_arguments(interface_), ");");
    writer_.line("  const Workspace own(workspace == nullptr ? offsets.slot", workspace_.slots.size(), " : 0",
                 stream_parameter().empty() ? "" : ", stream", ");");
    writer_.line(
        "  unsigned char* const memory = workspace == nullptr ? own.data() : static_cast<unsigned "
        "char*>(workspace);");
  }
  for (std::size_t step = 0; step < project_.variant.steps.size(); ++step) write_step(step);
  if (may_fail()) writer_.line("  check(run.failure());");
  writer_.line("}");
  return writer_.take();
}

File kernel_file(const Project& project, std::size_t step) {
  const loops::Program& program = project.variant.steps[step].program;
  const std::string& function = project.kernels[step];
  const std::string comment =
      cat("Kernel ", step, " of ", project.name, "(), and the loops that it walks:\n", loops::print(program));
  return {cat("kernels/", function, project.target.suffix()),
          project.target.kernel(program, function, comment)};
}

}  // namespace

std::vector<std::string> kernel_functions(const std::string& name, const runtime::Variant& variant) {
  std::vector<std::string> functions;
  for (std::size_t step = 0; step < variant.steps.size(); ++step) {
    std::string function = cat(name, "_", variant.steps[step].program.name);
    if (std::ranges::find(functions, function) != functions.end()) function += cat("_", step);
    functions.push_back(function);
  }
  return functions;
}

std::vector<File> function_files(const Project& project) {
  std::vector<File> files;
  files.push_back({cat(project.name, ".h"), FunctionWriter(project).header()});
  files.push_back({cat(project.name, ".cpp"), FunctionWriter(project).source()});
  for (std::size_t step = 0; step < project.kernels.size(); ++step)
    files.push_back(kernel_file(project, step));
  for (auto& headers : {exported_headers(), project.target.headers()})
    files.insert(files.end(), headers.begin(), headers.end());
  for (const lower::Value& value : project.variant.values) {
    if (value.storage != Storage::constant) continue;
    const std::span<const std::byte> bytes = value.content->bytes.read();
    files.push_back({cat("constants/", value.name, ".bin"),
                     std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }
  return files;
}

}  // namespace twinloom::sources
