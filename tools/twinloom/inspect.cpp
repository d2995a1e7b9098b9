// twinloom explain, dump, devices, ops: what the compiler decided, knows and has.
#include <algorithm>
#include <iostream>
#include <set>

#include "core/base/error.h"
#include "core/graph/passes.h"
#include "core/ops/pointwise.h"
#include "frontends/fx/read.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/estimates.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

struct ExplainCommand {
  ModelOptions model;
  DeviceOptions device;
  bool source = false;
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

// Which relaxations of mode `fast` a kernel uses, and what it would take without them.
std::string relaxed_words(const RelaxedNest& relaxed, double seconds, double unrelaxed) {
  std::string words = "relaxed: ";
  if (relaxed.sums) words += "sums in free order";
  if (relaxed.products > 0)
    words += cat(relaxed.sums ? ", " : "", relaxed.products, relaxed.products == 1 ? " product" : " products",
                 " contracted");
  return words +
         cat("; estimate without ", microseconds(unrelaxed), ", saved ", microseconds(unrelaxed - seconds));
}

void print_group(const runtime::Variant& variant, std::size_t group,
                 const std::optional<cost::Estimate>& estimate, const std::string& relaxed, bool source) {
  const runtime::Group& shown = variant.groups[group];
  std::cout << "kernel " << group << ": " << shown.name << '\n';
  std::set<std::string> named;  // an operator may be several nodes
  const auto is_constant = [&](graph::NodeId node) {
    return std::holds_alternative<graph::Constant>(variant.graph[node].node);
  };
  const bool makes_constants = std::ranges::all_of(shown.nodes, is_constant);
  for (const graph::NodeId node : shown.nodes) {
    // A number is written into every kernel that uses it, and has the name of the first operator that does.
    if (is_constant(node) && !makes_constants) continue;
    const graph::Origin& origin = variant.graph[node].origin;
    std::string words = graph::describe(variant.graph, node);
    if (!origin.file.empty()) words += cat("  (", escaped(origin.file), ":", origin.line, ")");
    if (named.insert(words).second) std::cout << "  computes " << words << '\n';
  }
  std::cout << indented(loops::print(shown.nest), "  | ");
  bool first = true;
  for (const runtime::Step& step : variant.steps) {
    if (step.unit != group) continue;
    if (first) std::cout << indented(step.schedule, "  ");
    if (first && estimate) std::cout << "  " << estimate_words(*estimate) << '\n';
    if (first) std::cout << indented(relaxed, "  ");
    first = false;
    if (source) std::cout << indented(step.source, "    ");
  }
}

// What became of each scatter, and how many are computed where they are used.
void print_scatters(const graph::Graph& graph) {
  const std::vector<graph::ScatterForm> forms = graph::scatter_forms(graph);
  if (forms.empty()) return;
  std::size_t selects = 0;
  for (const graph::ScatterForm& form : forms) {
    const std::string words = form.refused.empty() ? cat("a select of ", form.candidates, " at each place")
                                                   : cat("not a select: ", form.refused);
    std::cout << graph::describe(graph, form.scatter) << ": " << words << '\n';
    if (form.refused.empty()) ++selects;
  }
  std::cout << selects << " of " << forms.size() << " scatters are selects\n";
}

int explain(const ExplainCommand& command) {
  const Model model = read_model(command.model);
  const auto arguments = describe_arguments(model, command.model);
  const Device device = make_device(command.device);
  const CompileOptions options = compile_options(command.device, Mode::fused);
  const Executable executable = compile(model.graph, device, options);
  const auto variant = executable.variant(arguments);
  const RunOptions run = run_options(command.device, command.model);
  const int threads = run.settings.threads;
  const index::Values symbols = executable.symbols(arguments, run);
  const Estimates estimates = estimates_of(*variant, device.backend(), threads, symbols);
  for (std::size_t group = 0; group < variant->groups.size(); ++group) {
    const loops::Program& nest = variant->groups[group].nest;
    const RelaxedNest relaxed = options.mode == Mode::fast ? relaxed_in(nest) : RelaxedNest{};
    std::string words;
    if (estimates[group] && (relaxed.sums || relaxed.products > 0))
      words = relaxed_words(relaxed, estimates[group]->seconds,
                            unrelaxed_seconds(nest, device.backend(), threads, symbols));
    print_group(*variant, group, estimates[group], words, command.source);
  }
  for (const runtime::Missed& missed : variant->missed) {
    std::cout << "not fused: kernel " << missed.first << " and kernel " << missed.second << ": "
              << missed.words << '\n';
  }
  print_scatters(model.graph);
  std::cout << variant->groups.size() << " kernels, peak memory " << executable.peak_bytes(arguments)
            << " bytes\n"
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
  const auto bound = runtime::layouts_of(model.graph, arguments, true);
  std::vector<pipeline::PassText> texts;
  const Device device = make_device(command.device);
  pipeline::make_variant(graph::specialise(model.graph, {}), bound.layouts, device.backend(),
                         compile_options(command.device, Mode::fused), &texts);
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
  if (!command.frontend.empty())
    throw Error(cat("there is no frontend '", escaped(command.frontend), "'; frontends are fx"));
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
Then, on a GPU, the registers of a thread and the blocks that a multiprocessor runs at once. Sizes that
nothing gives are 16; --threads counts on a CPU, whose caches are warm, while those of a GPU are cold. A
kernel that calls a routine has no estimate, and on --device reference none has. The last line is the sum.)";

}  // namespace

Command add_explain(CLI::App& app, const FindDevice& find_device) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* sub =
      app.add_subcommand("explain", "Say which kernels a model becomes, and why neighbours are not fused");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, find_device);
  add_schedule_options(*sub, command->device);
  sub->add_flag("--source", command->source, "Also print the generated source");
  sub->footer(explain_notes);
  return [sub, command] { return sub->parsed() ? explain(*command) : -1; };
}

Command add_dump(CLI::App& app, const FindDevice& find_device) {
  auto command = std::make_shared<DumpCommand>();
  CLI::App* sub = app.add_subcommand("dump", "Print the form after a pass");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, find_device);
  sub->add_option("--after", command->after, "The pass; left out, all of them");
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
  sub->add_option("--frontend", command->frontend, "Those that a frontend reads: fx");
  return [sub, command] { return sub->parsed() ? list_operators(*command) : -1; };
}

}  // namespace twinloom::tool
