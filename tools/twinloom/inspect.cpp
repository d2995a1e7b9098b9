// twinloom explain, dump, devices, ops: what the compiler decided, knows and has.
#include <algorithm>
#include <functional>
#include <iostream>

#include "api/explain.h"
#include "core/base/error.h"
#include "core/graph/passes.h"
#include "core/ops/pointwise.h"
#include "frontends/fx/read.h"
#include "frontends/onnx/read.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

struct ExplainCommand {
  ModelOptions model;
  DeviceOptions device;
  bool source = false;
  bool json = false;
};

std::string indented(const std::string& text, std::string_view margin) {
  std::string result;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    result += cat(margin, text.substr(start, end - start), "\n");
    start = end + 1;
  }
  return result;
}

// Which relaxations of mode `fast` a kernel uses, and what it would take without them; empty where it uses
// none. In place of one that adds in memory there would be others, with a sort.
std::string relaxed_words(const ExplainedKernel& kernel) {
  const RelaxedNest& relaxed = kernel.relaxed;
  std::vector<std::string> uses;
  if (relaxed.sums) uses.emplace_back("sums in free order");
  if (relaxed.products > 0)
    uses.push_back(cat(relaxed.products, relaxed.products == 1 ? " product" : " products", " contracted"));
  if (relaxed.functions > 0)
    uses.push_back(
        cat(relaxed.functions, relaxed.functions == 1 ? " function" : " functions", " approximated"));
  if (relaxed.atomics) uses.emplace_back("additions in memory by atomics");
  if (uses.empty()) return {};
  const std::string words = cat("relaxed: ", join(uses, ", ", std::identity()));
  if (!kernel.unrelaxed_seconds) return words;
  return cat(words, "; estimate without ", microseconds(*kernel.unrelaxed_seconds), ", saved ",
             microseconds(*kernel.unrelaxed_seconds - kernel.estimate->seconds));
}

void print_kernel(const ExplainedKernel& kernel, std::size_t number, bool source) {
  std::cout << "kernel " << number << ": " << kernel.name << '\n';
  for (const ExplainedOperator& each : kernel.computes) {
    std::cout << "  computes " << each.words;
    if (!each.file.empty()) std::cout << "  (" << escaped(each.file) << ':' << each.line << ')';
    std::cout << '\n';
  }
  std::cout << indented(loops::print(kernel.nest), "  | ") << indented(kernel.schedule, "  ");
  if (kernel.estimate) std::cout << "  " << estimate_words(*kernel.estimate) << '\n';
  if (kernel.once) std::cout << "  once, before the first run: it follows from arrays of the graph alone\n";
  if (const std::string words = relaxed_words(kernel); !words.empty()) std::cout << "  " << words << '\n';
  if (!source) return;
  for (const std::string& text : kernel.sources) std::cout << indented(text, "    ");
}

// What became of each scatter, and how many are computed where they are used.
void print_scatters(const Explanation& explanation) {
  if (explanation.scatters.empty()) return;
  std::size_t selects = 0;
  for (const auto& [name, form] : explanation.scatters) {
    const std::string words = form.refused.empty() ? cat("a select of ", form.candidates, " at each place")
                                                   : cat("not a select: ", form.refused);
    std::cout << name << ": " << words << '\n';
    if (form.refused.empty()) ++selects;
  }
  std::cout << selects << " of " << explanation.scatters.size() << " scatters are selects\n";
}

// "result 0 'y' takes the memory of input 'x': 1024 bytes".
std::string words_of(const ExplainedReuse& reuse) {
  const std::string name = reuse.result_name.empty() ? "" : cat(" '", escaped(reuse.result_name), "'");
  return cat("result ", reuse.result, name, " takes the memory of input '", escaped(reuse.input),
             "': ", reuse.bytes, " bytes");
}

int print_explanation(const ExplainCommand& command) {
  const Model model = read_model(command.model);
  const auto arguments = describe_arguments(model, command.model);
  const Device device = make_device(command.device);
  const CompileOptions options = compile_options(command.device, Mode::fused, model);
  const Executable executable = make_executable(model, device, options, command.device.no_compile);
  const Explanation explanation =
      explain(executable, arguments, device, options, run_options(command.device, command.model));
  if (command.json) {
    std::cout << json_of(explanation) << '\n';
    print_warning(device.backend().warning());
    return 0;
  }
  Estimates estimates;
  for (std::size_t i = 0; i < explanation.kernels.size(); ++i) {
    print_kernel(explanation.kernels[i], i, command.source);
    if (!explanation.kernels[i].once) estimates.push_back(explanation.kernels[i].estimate);
  }
  for (const runtime::Missed& missed : explanation.missed) {
    std::cout << "not fused: kernel " << missed.first << " and kernel " << missed.second << ": "
              << missed.words << '\n';
  }
  print_scatters(explanation);
  for (const ExplainedReuse& reuse : explanation.reuses) std::cout << words_of(reuse) << '\n';
  std::cout << explanation.kernels.size() << " kernels, peak memory " << explanation.peak_bytes << " bytes\n"
            << indented(sum_words(estimates), "");
  print_warning(device.backend().warning());
  return 0;
}

struct DumpCommand {
  ModelOptions model;
  DeviceOptions device;
  std::string after;
};

int dump(const DumpCommand& command) {
  const std::vector<std::string> names = pipeline::pass_names();
  if (!command.after.empty() && std::ranges::find(names, command.after) == names.end()) {
    throw Error(cat("there is no pass '", escaped(command.after), "'; passes are ",
                    join(names, ", ", [](const std::string& name) { return name; })));
  }
  const Model model = read_model(command.model);
  const auto arguments = describe_arguments(model, command.model);
  const auto texts = twinloom::dump(model.graph, arguments, make_device(command.device),
                                    compile_options(command.device, Mode::fused));
  for (const pipeline::PassText& text : texts) {
    if (!command.after.empty() && text.pass != command.after) continue;
    if (command.after.empty()) std::cout << "# after " << text.pass << '\n';
    std::cout << text.text << '\n';
  }
  return 0;
}

int list_devices() {
  for (const Device& device : devices()) {
    std::cout << device.backend().name() << ": " << device.backend().describe() << '\n';
  }
  for (const std::string& line : missing_gpus()) std::cout << line << '\n';
  return 0;
}

struct OpsCommand {
  std::string frontend;
};

int list_operators(const OpsCommand& command) {
  if (command.frontend == "fx") {
    for (const std::string& name : fx::operators()) std::cout << name << '\n';
    return 0;
  }
  if (command.frontend == "onnx") {
    for (const std::string& name : onnx::operators()) std::cout << name << '\n';
    return 0;
  }
  if (!command.frontend.empty())
    throw Error(cat("there is no frontend '", escaped(command.frontend), "'; frontends are fx, onnx"));
  for (const ops::Pointwise op : ops::all_pointwise())
    std::cout << ops::name(op) << "  " << ops::arity(op) << " inputs\n";
  for (const ops::Monoid monoid : ops::all_monoids()) std::cout << ops::name(monoid) << "  reduction\n";
  return 0;
}

constexpr const char* explain_notes =
    R"(Example: twinloom explain model.fx --source
Behind the schedule of a kernel stands how long it should take by what it moves and computes, such as
  estimate 103.8 us: memory 93.2 us (402.65 MB), L2 69.9 us, ...; 32 registers, 8 blocks a multiprocessor
After the whole come the times that each of these would take alone, the longest first; most of the others is
hidden behind it:
  memory, L3, L2  bytes that cross from there
  instructions    that the units execute
  wavefronts      passes of a GPU's requests through its first cache, or the banks of shared memory
  chain           what waits for one another
  blocks          the starts of a GPU's blocks, one after the other
  launch          the starts of its programs
In mode fast a line says what of it a kernel uses, and what it would take without:
  relaxed: sums in free order, 2 products contracted; estimate without 588.2 us, saved 253.1 us
A kernel of which it says "once" is started before the first run and in none: what it computes is kept.
Then, on a GPU, the registers of a thread and the blocks that a multiprocessor runs at once. Sizes that
nothing gives are 16; --threads counts on a CPU, whose caches are warm, while those of a GPU are cold. A
kernel that calls a routine has no estimate, and on --device reference none has. The last line is the sum.)";

}  // namespace

Command add_explain(CLI::App& app, const Context& context) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* sub =
      app.add_subcommand("explain", "Say which kernels a model becomes, and why neighbours are not fused");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, context);
  add_schedule_options(*sub, command->device);
  sub->add_flag("--source", command->source, "Also print the generated source");
  sub->add_flag("--json", command->json, "All of it as one object of JSON, times in seconds");
  sub->footer(explain_notes);
  return [sub, command] { return sub->parsed() ? print_explanation(*command) : -1; };
}

Command add_dump(CLI::App& app, const Context& context) {
  auto command = std::make_shared<DumpCommand>();
  CLI::App* sub = app.add_subcommand("dump", "Print the form after a pass");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, context);
  sub->add_option("--after", command->after, "The pass; left out, all of them")
      ->type_name(takes::one_of(pipeline::pass_names()));
  sub->footer("Example: twinloom dump model.fx --after fuse");
  return [sub, command] { return sub->parsed() ? dump(*command) : -1; };
}

Command add_devices(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("devices", "List the devices that can be used here");
  return [sub] { return sub->parsed() ? list_devices() : -1; };
}

Command add_ops(CLI::App& app) {
  auto command = std::make_shared<OpsCommand>();
  CLI::App* sub = app.add_subcommand("ops", "List the operators");
  sub->add_option("--frontend", command->frontend, "Those that a frontend reads")->type_name("fx|onnx");
  return [sub, command] { return sub->parsed() ? list_operators(*command) : -1; };
}

}  // namespace twinloom::tool
