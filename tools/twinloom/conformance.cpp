// twinloom conformance: models with inputs and expected outputs in the layout of ONNX's backend tests, each
// run in a process of its own.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "api/load.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/compare.h"
#include "tools/twinloom/failure.h"
#include "tools/twinloom/guarded.h"
#include "tools/twinloom/inputs.h"
#include "tools/twinloom/onnx_files.h"

namespace twinloom::tool {

namespace {

namespace fs = std::filesystem;

struct ConformanceCommand {
  std::vector<fs::path> folders;
  DeviceOptions device;
  Tolerance tolerance{1e-3, 1e-7};
  GuardLimits limits;
  std::int64_t memory = 8192;  // MiB
  fs::path json;
};

enum class Outcome : std::uint8_t { passed, failed, skipped };
constexpr std::array<std::string_view, 3> outcome_names = {"passed", "failed", "skipped"};
std::string_view name(Outcome outcome) { return outcome_names[static_cast<std::size_t>(outcome)]; }

struct Tested {
  Outcome outcome = Outcome::failed;
  std::string words;  // why it failed or was skipped, or what was not compared
  double seconds = 0;
};

// A folder with a model is a test; others are looked into.
void add_tests(const fs::path& folder, std::vector<fs::path>& tests) {
  if (!fs::is_directory(folder)) throw Error(cat("there is no folder '", escaped(folder.string()), "'"));
  if (fs::exists(folder / "model.onnx")) {
    tests.push_back(folder);
    return;
  }
  std::vector<fs::path> inner;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && !entry.is_symlink()) inner.push_back(entry.path());
  std::ranges::sort(inner);
  for (const fs::path& each : inner) add_tests(each, tests);
}

std::vector<fs::path> data_sets(const fs::path& test) {
  std::vector<fs::path> sets;
  for (const auto& entry : fs::directory_iterator(test))
    if (entry.path().filename().string().starts_with("test_data_set_")) sets.push_back(entry.path());
  std::ranges::sort(sets);
  if (sets.empty()) throw Error("there is no folder test_data_set_0");
  return sets;
}

std::string words_of(ops::DType dtype, const std::vector<std::int64_t>& sizes) {
  return cat(ops::name(dtype), "[", join(sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
}

// Two steps of bfloat16, as ONNX's own runner allows, whose expected outputs are rounded after each operator.
Tolerance tolerance_of(const ConformanceCommand& command, ops::DType dtype) {
  Tolerance tolerance = command.tolerance;
  if (dtype == ops::DType::bf16) tolerance.relative = std::max(tolerance.relative, 0x1p-6);
  return tolerance;
}

// Whether random numbers decide about the value: ONNX leaves open which ones.
bool is_random(const graph::Graph& graph, graph::NodeId id) {
  std::vector<bool> random;
  for (const graph::Node& node : graph.nodes().first(static_cast<std::size_t>(id.index) + 1))
    random.push_back(std::holds_alternative<graph::Random>(node.node) ||
                     std::ranges::any_of(node.inputs, [&](graph::NodeId input) {
                       return random[static_cast<std::size_t>(input.index)];
                     }));
  return random.back();
}

// What is wrong with an output; empty where nothing is.
std::string words_of_difference(const Output& output, const Tensor& expected, const Tolerance& tolerance,
                                bool is_open) {
  const auto* given = std::get_if<Tensor>(&output);
  if (given == nullptr) return "is no tensor";
  const Difference difference = compare(*given, expected, tolerance);
  if (is_open && difference.same_shape) return {};
  if (!difference.same_shape)
    return cat("is ", words_of(given->dtype, given->sizes), ", expected ",
               words_of(expected.dtype, expected.sizes));
  if (difference.different == 0) return {};
  return cat("differs in ", difference.different, " of ", runtime::element_count(expected),
             " elements, most at ", difference.where, ": ", difference.given, ", expected ",
             difference.expected);
}

// Of a parameter or result of this type: bfloat16 is stored as its bits.
Tensor stored(const graph::Array& array, ops::DType dtype) {
  Tensor tensor = tensor_of(array);
  if (dtype == ops::DType::bf16 && tensor.dtype == ops::DType::u16) tensor.dtype = dtype;
  return tensor;
}

// The files of a data set.
struct DataSet {
  fs::path folder;
  onnx::Signature signature;

  // Nothing where there is no such file.
  std::optional<onnx::Elements> elements(std::string_view name, std::size_t number, onnx::Kind kind) const {
    const fs::path file = folder / cat(name, "_", number, ".pb");
    if (!fs::exists(file)) return std::nullopt;
    return onnx::read_elements(read_bytes(file, onnx::most_bytes), kind, file.string());
  }
  std::optional<onnx::Elements> input(std::size_t number) const {
    return elements("input", number, signature.inputs.at(number));
  }
  // The tensors of all inputs one after the other, as parameters are; nothing for those without a file.
  std::vector<std::optional<graph::Array>> parameters() const {
    std::vector<std::optional<graph::Array>> result;
    for (std::size_t k = 0; k < signature.inputs.size(); ++k) {
      const auto found = input(k);
      if (!found) result.emplace_back();
      if (found) result.insert(result.end(), found->tensors.begin(), found->tensors.end());
    }
    return result;
  }
};

// The model for the inputs of the data set, and these.
Model model_with(const DataSet& data, const fs::path& file) {
  Model model;
  std::vector<std::optional<graph::Array>> parameters;  // read where they are needed
  const auto value = [&](const std::string&, std::size_t position) -> std::optional<graph::Array> {
    if (parameters.empty()) parameters = data.parameters();
    return position < parameters.size() ? parameters[position] : std::nullopt;
  };
  const auto elements = [&](const std::string&, std::size_t number) { return data.input(number); };
  model.graph = load_onnx(file, {.folder = {}, .values = value, .elements = elements});
  if (parameters.empty()) parameters = data.parameters();
  for (std::size_t p = 0; p < model.graph.parameters().size(); ++p) {
    const auto& node = model.graph[std::get<graph::NodeId>(model.graph.parameters()[p].value)];
    if (p < parameters.size() && parameters[p])
      model.arrays[cat("in", p)].tensor = stored(*parameters[p], node.dtype);
  }
  return model;
}

// Error where an output is not what is expected. Whether elements of all of them were compared.
bool check_outputs(const ConformanceCommand& command, const Model& model, const DataSet& data,
                   const std::vector<Output>& outputs) {
  std::size_t result = 0;
  bool compares_all = true;
  for (std::size_t k = 0; k < data.signature.outputs.size(); ++k) {
    const auto expected = data.elements("output", k, data.signature.outputs[k]);
    if (!expected) throw Error(cat("there is no output_", k, ".pb"));
    for (const graph::Array& array : expected->tensors) {
      if (result == outputs.size())
        throw Error(cat("there are ", outputs.size(), " results, expected are more"));
      const graph::NodeId value = model.graph.results()[result].value;
      const ops::DType dtype = model.graph[value].dtype;
      const bool is_open = is_random(model.graph, value);
      compares_all = compares_all && !is_open;
      const std::string wrong =
          words_of_difference(outputs[result], stored(array, dtype), tolerance_of(command, dtype), is_open);
      if (!wrong.empty())
        throw Error(cat("output ", result, " '", escaped(output_name(model.graph, result)), "' ", wrong));
      ++result;
    }
  }
  if (result != outputs.size())
    throw Error(cat("there are ", outputs.size(), " results, expected are ", result));
  return compares_all;
}

bool run_data_set(const ConformanceCommand& command, const fs::path& test, const fs::path& folder) {
  const fs::path file = test / "model.onnx";
  const DataSet data{folder, onnx::signature_of(read_bytes(file, onnx::most_bytes))};
  const Model model = model_with(data, file);
  const auto arguments = make_arguments(model, {});
  const Device device = make_device(command.device);
  const Executable executable =
      make_executable(model, device, compile_options(command.device, Mode::fused), false);
  const auto outputs =
      on_host(executable.run(on_device(arguments, device), run_options(command.device, {})), device);
  return check_outputs(command, model, data, outputs);
}

Tested run_test(const ConformanceCommand& command, const fs::path& test) {
  try {
    bool compares_all = true;
    for (const fs::path& data : data_sets(test))
      compares_all = run_data_set(command, test, data) && compares_all;
    return {Outcome::passed, compares_all ? "" : "of random numbers the type and the shape alone"};
  } catch (const onnx::Unsupported& error) {
    return {Outcome::skipped, error.what()};
  } catch (const std::exception& error) {
    return {Outcome::failed, failure_of(error).words};
  }
}

// The number of the outcome, then the words.
std::string print(const Tested& tested) { return cat(static_cast<int>(tested.outcome), tested.words); }
Tested parsed(const Guarded& guarded) {
  const char first = guarded.words.empty() ? '?' : guarded.words[0];
  if (!guarded.ended || first < '0' || first > '2') return {Outcome::failed, guarded.words, guarded.seconds};
  return {static_cast<Outcome>(first - '0'), guarded.words.substr(1), guarded.seconds};
}

std::string counts(const std::vector<Tested>& results) {
  const auto count = [&](Outcome outcome) { return std::ranges::count(results, outcome, &Tested::outcome); };
  return cat(count(Outcome::passed), " passed, ", count(Outcome::failed), " failed, ",
             count(Outcome::skipped), " skipped");
}

void write_json(const fs::path& file, const std::vector<fs::path>& tests,
                const std::vector<Tested>& results) {
  nlohmann::json list = nlohmann::json::array();
  for (std::size_t t = 0; t < tests.size(); ++t) {
    list.push_back({{"test", tests[t].filename().string()},
                    {"folder", tests[t].string()},
                    {"outcome", name(results[t].outcome)},
                    {"words", results[t].words},
                    {"seconds", results[t].seconds}});
  }
  const auto replace = nlohmann::json::error_handler_t::replace;
  write_whole(file,
              nlohmann::json{{"tests", list}, {"counts", counts(results)}}.dump(2, ' ', false, replace));
}

int run_conformance(ConformanceCommand command) {
  command.limits.bytes = command.memory << 20;
  std::vector<fs::path> tests;
  for (const fs::path& folder : command.folders) add_tests(folder, tests);
  if (tests.empty()) throw Error("there is no model.onnx in these folders");
  std::vector<Tested> results(tests.size());
  command.device.context.progress->end();  // its thread must not be there when processes are copied
  run_guarded(
      tests.size(), command.limits, [&](std::size_t test) { return print(run_test(command, tests[test])); },
      [&](std::size_t test, const Guarded& guarded) {
        results[test] = parsed(guarded);
        std::cout << name(results[test].outcome) << ' ' << tests[test].filename().string()
                  << (results[test].words.empty() ? "" : ": ") << results[test].words << std::endl;
      });
  if (!command.json.empty()) write_json(command.json, tests, results);
  std::cout << counts(results) << '\n';
  const bool good = std::ranges::count(results, Outcome::failed, &Tested::outcome) == 0;
  return good ? exits::done : exits::different;
}

}  // namespace

Command add_conformance(CLI::App& app, const Context& context) {
  auto command = std::make_shared<ConformanceCommand>();
  CLI::App* sub = app.add_subcommand(
      "conformance", "Run ONNX models on the inputs beside them, and compare with the outputs there");
  sub->add_option(
         "folders", command->folders,
         "A test: model.onnx and test_data_set_K with input_I.pb and output_I.pb; or a folder of these")
      ->required()
      ->type_name(takes::folder);
  add_device_options(*sub, command->device, context);
  sub->add_option("--rtol", command->tolerance.relative, "Relative tolerance")->capture_default_str();
  sub->add_option("--atol", command->tolerance.absolute, "Absolute tolerance")->capture_default_str();
  sub->add_option("--timeout", command->limits.seconds, "Seconds that a test may take")
      ->capture_default_str();
  sub->add_option("--memory", command->memory, "MiB that a test may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  sub->add_option("--jobs", command->limits.jobs, "Tests at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  sub->add_option("--json", command->json, "Write the results to this file")->type_name(takes::file);
  sub->footer(
      "Example: twinloom conformance /usr/share/libonnx-testdata/data/node --jobs 2\n"
      "A model that asks for more than is implemented is skipped, with the reason; the last line counts.");
  return [sub, command] { return sub->parsed() ? run_conformance(*command) : -1; };
}

}  // namespace twinloom::tool
