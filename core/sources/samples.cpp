// The test of an exported function: a run whose arguments and results are files.
#include "core/base/error.h"
#include "core/graph/sharing.h"
#include "core/sources/interface.h"

namespace twinloom::sources {

using graph::Ownership;
using lower::Storage;
using ops::DType;
using runtime::Tensor;

namespace {

std::string numbers(std::span<const std::int64_t> values) {
  return cat("{", join(values, ", ", [](std::int64_t value) { return cat(value); }), "}");
}

// sample.h's Type: how NaNs are recognised.
std::string type_of(DType dtype) {
  const auto infinity = [&]() -> std::string_view {
    switch (dtype) {
      case DType::f64:
        return "0x7ff0000000000000";
      case DType::f32:
        return "0x7f800000";
      case DType::f16:
        return "0x7c00";
      case DType::bf16:
        return "0x7f80";
      case DType::f8e5m2:
        return "0x7c";
      case DType::f8e4m3:
        return "0x7e";
      default:
        return "0";
    }
  };
  return cat("{", ops::size_of(dtype), ", ", infinity(), "}");
}

std::string bytes_of_tensor(const Tensor& tensor) {
  const runtime::Bytes bytes = runtime::bytes_of(tensor);
  return std::string(reinterpret_cast<const char*>(bytes.first),
                     static_cast<std::size_t>(bytes.last - bytes.first));
}

class TestWriter {
 public:
  TestWriter(const Project& project, const Sample& sample)
      : project_(project), sample_(sample), interface_(interface_of(project)) {}
  std::vector<File> files();

 private:
  void write_inputs();
  void write_call();
  void write_results();
  void write_result(std::size_t result, std::size_t value, const graph::StridedView& view);

  const Project& project_;
  const Sample& sample_;
  Interface interface_;
  Writer writer_;
  std::vector<File> files_;
  std::vector<std::string> given_;  // what the function is handed
};

void TestWriter::write_inputs() {
  std::size_t argument = 0;
  for (std::size_t p = 0; p < sample_.arguments.size(); ++p) {
    const auto* tensor = std::get_if<Tensor>(&sample_.arguments[p]);
    if (tensor == nullptr) continue;
    const std::string& name = interface_.arguments[argument++].name;
    files_.push_back({cat("samples/", name, ".bin"), bytes_of_tensor(*tensor)});
    writer_.line("  const Bytes ", name, " = read_sample(\"", name, ".bin\");");
    given_.push_back(cat(name, ".at<", c_type(tensor->dtype), ">(", -runtime::extent_of(*tensor).first, ")"));
  }
  for (const index::Symbol& symbol : interface_.symbols) {
    std::int64_t value = 0;
    if (symbol == index::Symbol("seed"))
      value = static_cast<std::int64_t>(sample_.options.seed);
    else if (symbol == index::Symbol("offset"))
      value = static_cast<std::int64_t>(sample_.options.offset);
    else
      value = sample_.symbols.at(symbol);
    given_.push_back(cat(value));
  }
}

void TestWriter::write_call() {
  for (std::size_t v = 0; v < project_.variant.values.size(); ++v) {
    const lower::Value& value = project_.variant.values[v];
    if (value.storage != Storage::result) continue;
    const std::int64_t bytes = index::evaluate(value.count, sample_.symbols) * ops::size_of(value.dtype);
    writer_.line("  const Bytes ", interface_.values[v], " = bytes_of(", bytes, ");");
    given_.push_back(cat(interface_.values[v], ".at<", c_type(value.dtype), ">(0)"));
  }
  if (!project_.target.stream_type().empty()) given_.emplace_back("nullptr");
  writer_.line("  ", project_.name, "(", join(given_, ", ", [](const std::string& text) { return text; }),
               ");");
}

void TestWriter::write_result(std::size_t result, std::size_t value, const graph::StridedView& view) {
  const Tensor expected = runtime::contiguous(std::get<Tensor>(sample_.outputs[result]));
  const std::string name = cat("result", result, ".bin");
  files_.push_back({cat("samples/", name), bytes_of_tensor(expected)});
  writer_.line("  ok &= is_sample(\"", name, "\", ", type_of(expected.dtype), ", ", interface_.values[value],
               ", ", view.offset, ", ", numbers(view.sizes), ", ", numbers(view.strides), ");");
}

void TestWriter::write_results() {
  const graph::Graph& graph = project_.variant.graph;
  writer_.line("  bool ok = true;");
  for (std::size_t v = 0; v < project_.variant.values.size(); ++v) {
    const lower::Value& value = project_.variant.values[v];
    if (value.storage != Storage::result) continue;
    const std::vector<std::int64_t> strides = index::evaluate(value.strides, sample_.symbols);
    for (std::size_t r = 0; r < graph.results().size(); ++r) {
      const graph::Result& result = graph.results()[r];
      if (value.result == static_cast<int>(r))
        write_result(r, v, {index::evaluate(value.shape, sample_.symbols), strides, 0});
      else if (result.kind == Ownership::view && result.base == value.node)
        write_result(r, v, graph::strided_view(graph, result.value, result.base, strides, sample_.symbols));
    }
  }
}

std::vector<File> TestWriter::files() {
  writer_.line("// A run of ", project_.name,
               "() on the inputs in samples/, compared with what Twinloom gave for them.");
  writer_.line("#include \"", project_.name, ".h\"");
  writer_.line("#include \"sample.h\"");
  writer_.line();
  writer_.line("int main() {");
  writer_.line("  using namespace twinloom::exported;");
  writer_.line("  if (!can_run()) return ", NOTHING_TO_RUN_ON, ";");
  write_inputs();
  write_call();
  write_results();
  writer_.line("  return ok ? 0 : 1;");
  writer_.line("}");
  files_.push_back({"test.cpp", writer_.take()});
  return std::move(files_);
}

}  // namespace

std::vector<File> test_files(const Project& project, const Sample& sample) {
  return TestWriter(project, sample).files();
}

}  // namespace twinloom::sources
