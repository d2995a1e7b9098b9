// Runs many small FX texts in one process, for compare_with_torch.py: cases from stdin, answers on stdout.
//   run_texts EXECUTION     strict, fused: by the evaluator; cpu: compiled in mode strict
//
//   case  :=  "case" BYTES INPUTS "\n" text input*      the text has BYTES bytes
//   input :=  DTYPE RANK SIZE* "\n" elements            row-major
//   answer := "ok" RESULTS "\n" result* | "error" BYTES "\n" message | "bug" BYTES "\n" message
//   result := "none\n" | DTYPE RANK SIZE* "\n" elements
#include <iostream>
#include <string>

#include "api/twinloom.h"
#include "core/base/error.h"
#include "core/evaluate/evaluate.h"
#include "core/graph/passes.h"
#include "frontends/fx/read.h"

namespace twinloom::tests {

namespace {

using evaluate::Value;

struct Case {
  std::string text;
  std::vector<Value> inputs;
};
using Results = std::vector<std::optional<Value>>;

std::string read_bytes(std::istream& in, std::size_t count) {
  std::string bytes(count, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  return bytes;
}

Value read_input(std::istream& in) {
  std::string dtype;
  std::size_t rank = 0;
  in >> dtype >> rank;
  Value value{ops::dtype_named(dtype).value(), std::vector<std::int64_t>(rank), {}};
  std::size_t bytes = static_cast<std::size_t>(ops::size_of(value.dtype));
  for (std::int64_t& size : value.sizes) {
    in >> size;
    bytes *= static_cast<std::size_t>(size);
  }
  in.get();
  value.bytes.resize(bytes);
  in.read(reinterpret_cast<char*>(value.bytes.data()), static_cast<std::streamsize>(bytes));
  return value;
}

std::optional<Case> read_case(std::istream& in) {
  std::string word;
  std::size_t bytes = 0;
  std::size_t inputs = 0;
  if (!(in >> word >> bytes >> inputs)) return std::nullopt;
  CHECK(word == "case", "a case begins with '", word, "'");
  in.get();
  Case one{read_bytes(in, bytes), {}};
  for (std::size_t k = 0; k < inputs; ++k) one.inputs.push_back(read_input(in));
  return one;
}

void write_value(std::ostream& out, const std::optional<Value>& value) {
  if (!value) {
    out << "none\n";
    return;
  }
  out << ops::name(value->dtype) << ' ' << value->sizes.size();
  for (const std::int64_t size : value->sizes) out << ' ' << size;
  out << '\n';
  out.write(reinterpret_cast<const char*>(value->bytes.data()),
            static_cast<std::streamsize>(value->bytes.size()));
}

void write_message(std::ostream& out, std::string_view kind, std::string_view words) {
  out << kind << ' ' << words.size() << '\n' << words;
}

Results by_evaluator(const graph::Graph& graph, const Case& one) {
  const std::vector<evaluate::Argument> arguments(one.inputs.begin(), one.inputs.end());
  return evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
}

std::optional<Value> value_of(const Output& output) {
  const auto* tensor = std::get_if<Tensor>(&output);
  if (tensor == nullptr) return std::nullopt;
  const Tensor plain = contiguous(*tensor);
  const auto* bytes = static_cast<const std::byte*>(plain.data);
  const std::int64_t count = runtime::element_count(plain) * ops::size_of(plain.dtype);
  return Value{plain.dtype, plain.sizes, {bytes, bytes + count}};
}

Results compiled(const graph::Graph& graph, Case& one) {
  CompileOptions options;
  options.mode = Mode::strict;
  const Executable executable = compile(graph, Device::cpu(), options);
  std::vector<Argument> arguments;
  for (Value& input : one.inputs)
    arguments.emplace_back(view_of(input.bytes.data(), input.dtype, input.sizes));
  Results results;
  for (const Output& output : executable.run(arguments)) results.push_back(value_of(output));
  return results;
}

Results results_of(Case& one, std::string_view execution) {
  const graph::Graph graph = fx::read(one.text);
  if (execution == "cpu") return compiled(graph, one);
  return by_evaluator(execution == "fused" ? graph::fused_meaning(graph) : graph, one);
}

void answer(std::ostream& out, Case& one, std::string_view execution) {
  try {
    const Results results = results_of(one, execution);
    out << "ok " << results.size() << '\n';
    for (const auto& result : results) write_value(out, result);
  } catch (const Error& error) {
    write_message(out, "error", error.what());
  } catch (const std::exception& error) {
    write_message(out, "bug", error.what());
  }
  out.flush();
}

}  // namespace

}  // namespace twinloom::tests

int main(int count, char** arguments) {
  const std::string_view execution = count == 2 ? arguments[1] : "";
  if (execution != "strict" && execution != "fused" && execution != "cpu") {
    std::cerr << "run_texts EXECUTION: strict, fused or cpu\n";
    return 2;
  }
  std::ios::sync_with_stdio(false);
  while (auto one = twinloom::tests::read_case(std::cin)) twinloom::tests::answer(std::cout, *one, execution);
  return 0;
}
