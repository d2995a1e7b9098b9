// See stages.h.
#include "tests/conformance/stages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "api/devices.h"
#include "backends/cpu/cpu.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/translate.h"
#endif
#include "backends/reference/reference.h"
#include "core/base/error.h"
#include "core/graph/sharing.h"
#include "core/machine/gpu.h"
#include "core/pipeline/pipeline.h"
#include "tests/conformance/front_end.h"
#include "tests/conformance/through_program.h"
#include "tests/support/programs/program_interpreter.h"
#include "tests/support/schedules/random_schedule.h"

namespace twinloom::tests {

namespace {

using runtime::Tensor;

struct Stage {
  std::string name;
  std::shared_ptr<const runtime::Backend> backend;
  bool fuse;
  std::string isa;       // of programs
  std::uint64_t one_in;  // seeds that run it
  std::optional<fuse::Limits> limits = {};
  std::string device = {};  // that the program is asked for; empty: the stage is a run of the back end
  std::function<void(std::size_t least)> check_kept = {};  // what the stage kept for later, once so many wait
  bool draws_schedules = false;                            // legal ones that nobody chose, by the seed
};

Stage with_drawn_schedules(Stage stage, std::uint64_t one_in) {
  stage.name += " with drawn schedules";
  stage.one_in = one_in;
  stage.draws_schedules = true;
  return stage;
}

// Totals of rows and columns are made in one pass wherever they can be.
fuse::Limits limits_of_one_pass() {
  fuse::Limits limits;
  limits.one_pass = true;
  limits.most_ragged_columns = limits.most_columns;
  return limits;
}

// Whatever may be parts of one kernel is.
fuse::Limits limits_of_parts() {
  fuse::Limits limits;
  limits.seconds_in_parts = [](const loops::Program&) { return 1.0; };
  return limits;
}
// As long as a schedule of the machine fits it.
fuse::Limits limits_of_parts(const machine::Machine& machine) {
  fuse::Limits limits;
  limits.seconds_in_parts = [machine](const loops::Program& nest) {
    return std::isfinite(schedule::chosen_seconds(nest, machine)) ? 1.0 : HUGE_VAL;
  };
  return limits;
}

// The first GPU, or null where there is none.
std::shared_ptr<const runtime::Backend> gpu() {
  try {
    return Device::cuda(0, /*cache=*/false).share();
  } catch (const Error&) {
    return nullptr;
  }
}

// What is made for an H200, interpreted; it also becomes text, which the emitter checks, and NVRTC's front
// end where it is installed.
std::array<Stage, 2> programs_for_h200(std::uint64_t every_of, std::uint64_t one_pass_of) {
#ifdef TWINLOOM_HAS_CUDA
  const auto front_end = std::make_shared<FrontEnd>();
  const auto look = [front_end](const loops::Program& program) { front_end->add(program); };
  const auto check_kept = [front_end](std::size_t least) { front_end->check(least); };
#else
  const auto look = [](const loops::Program&) {};
  const auto check_kept = [](std::size_t) {};
#endif
  const auto backend = interpreter_of_programs(machine::h200(), look);
  return {Stage{"interpreter of programs for h200", backend, true, "", every_of, {}, {}, check_kept},
          Stage{"interpreter of rows and columns in one pass for h200",
                backend,
                true,
                "",
                one_pass_of,
                limits_of_one_pass(),
                {},
                check_kept}};
}

// And machine code, where NVRTC is installed.
std::optional<Stage> nvrtc() {
#ifdef TWINLOOM_HAS_CUDA
  std::shared_ptr<const cuda::Translator> to;
  try {
    to = std::make_shared<const cuda::Translator>("sm_90a");
  } catch (const Error&) {
    return std::nullopt;
  }
  const auto look = [to](const loops::Program& program) {
    to->object(to->text(program, cuda::Handed::usual), program.name);
  };
  constexpr std::uint64_t ONE_IN = 32;  // it takes as long as all other stages of ten seeds
  return Stage{"NVRTC for h200",    interpreter_of_programs(machine::h200(), look), true, "", ONE_IN,
               limits_of_one_pass()};
#else
  return std::nullopt;
#endif
}

const std::vector<Stage>& stages() {
  static const std::vector<Stage> all = [] {
    const std::shared_ptr<const runtime::Backend> reference = reference::make_reference();
    constexpr std::uint64_t EVERY_OTHER = 2;  // what takes longest of those that are no machine code
    std::vector<Stage> result = {{"interpreter of unfused nests", reference, false, "", EVERY_OTHER},
                                 {"interpreter of fused nests", reference, true, "", 1}};
    constexpr std::uint64_t ONE_IN = 4;  // few of them have both: those of one_pass_test.cpp all do
    constexpr std::uint64_t DRAWN_ONE_IN = 10;  // they are twice as many kernels to make
    const auto add = [&](const Stage& stage) {
      result.push_back(stage);
      result.push_back(with_drawn_schedules(stage, DRAWN_ONE_IN));
    };
    auto [every_program, one_pass] = programs_for_h200(EVERY_OTHER, ONE_IN);
    add(every_program);
    result.push_back(std::move(one_pass));
    result.push_back({"interpreter of nests with rows and columns in one pass", reference, true, "", ONE_IN,
                      limits_of_one_pass()});
    result.push_back({"interpreter of nests of several parts", reference, true, "", EVERY_OTHER, limits_of_parts()});
    constexpr std::uint64_t SEALED_ONE_IN = 8;  // it compiles too
    if (auto stage = nvrtc()) result.push_back(*stage);
    result.push_back({"the program on sealed memory", reference, true, "", SEALED_ONE_IN, {}, std::string(SEALED)});
    if (auto backend = gpu()) {
      add({cat("JIT for ", backend->name()), backend, true, "", 1});
      result.push_back({cat("the program on ", backend->name()), backend, true, "", 1, {}, backend->name()});
    }
    constexpr std::uint64_t JIT_ONE_IN = 3;  // Clang takes as long as all other stages
    for (const std::string& isa : cpu::supported_isas()) {
      std::shared_ptr<const runtime::Backend> cpu =
          cpu::make_cpu({.isa = isa, .threads = 2, .worth_a_thread_seconds = 0});
      add({cat("interpreter of programs for ", isa), interpreter_of_programs(cpu->machine()), true, isa, 1});
      result.push_back({cat("interpreter of programs of several parts for ", isa),
                        interpreter_of_programs(cpu->machine()), true, isa, ONE_IN,
                        limits_of_parts(cpu->machine())});
      constexpr std::uint64_t PARTS_ONE_IN = 32;
      result.push_back({cat("JIT of several parts for ", isa), cpu, true, isa, PARTS_ONE_IN,
                        limits_of_parts(cpu->machine())});
      add({cat("JIT for ", isa), std::move(cpu), true, isa, JIT_ONE_IN});
    }
    return result;
  }();
  return all;
}

// Poisoned, guarded memory for each own result.
struct OwnResults {
  std::vector<Guarded> memory;
  std::vector<Tensor> tensors;
};

OwnResults own_results(const graph::Graph& graph, const std::vector<std::optional<evaluate::Value>>& expected,
                       Against side) {
  OwnResults own;
  for (std::size_t r = 0; r < expected.size(); ++r) {
    if (graph.results()[r].kind != graph::Ownership::own) continue;
    const Guarded& memory = own.memory.emplace_back(expected[r]->bytes.size(), side);
    own.tensors.push_back(runtime::view_of(memory.data(), expected[r]->dtype, expected[r]->sizes));
  }
  return own;
}

// As they are, or in the memory of the device.
std::vector<Tensor> placed(std::vector<Tensor> tensors, const runtime::Space* space) {
  for (Tensor& tensor : tensors)
    if (space != nullptr) tensor = runtime::uploaded(tensor, *space);
  return tensors;
}
std::vector<runtime::Argument> placed(std::vector<runtime::Argument> arguments, const runtime::Space* space) {
  for (runtime::Argument& argument : arguments) {
    auto* tensor = std::get_if<Tensor>(&argument);
    if (tensor != nullptr && space != nullptr) *tensor = runtime::uploaded(*tensor, *space);
  }
  return arguments;
}

std::string position(const std::vector<std::int64_t>& sizes, std::int64_t element) {
  std::string text;
  for (std::size_t axis = sizes.size(); axis-- > 0; element /= sizes[axis])
    text = cat(element % sizes[axis], text.empty() ? "" : ", ", text);
  return cat("[", text, "]");
}

std::optional<std::string> difference_of(const std::byte* given, const evaluate::Value& expected) {
  if (std::equal(expected.bytes.begin(), expected.bytes.end(), given)) return std::nullopt;
  const std::int64_t size = ops::size_of(expected.dtype);
  const std::int64_t count = static_cast<std::int64_t>(expected.bytes.size()) / size;
  std::int64_t differing = 0;
  std::optional<std::string> first;
  for (std::int64_t e = 0; e < count; ++e) {
    const ops::Number a = ops::load_number(expected.dtype, given + e * size);
    const ops::Number b = ops::load_number(expected.dtype, expected.bytes.data() + e * size);
    if (a == b || ++differing > 1) continue;
    first = cat(position(expected.sizes, e), " is ", ops::print(a), ", the evaluator has ", ops::print(b));
  }
  if (first) *first += cat(" (", differing, " of ", count, " differ)");
  return first;
}

std::optional<std::string> difference_of(const runtime::Output& output, const graph::Result& result,
                                         const std::optional<evaluate::Value>& expected,
                                         const runtime::Space* space) {
  if (result.kind == graph::Ownership::none)
    return std::holds_alternative<std::monostate>(output) ? std::nullopt
                                                          : std::optional<std::string>("is not None");
  if (result.kind == graph::Ownership::size)
    return difference_of(reinterpret_cast<const std::byte*>(&std::get<std::int64_t>(output)), *expected);
  const Tensor& there = std::get<Tensor>(output);
  if (there.dtype != expected->dtype || there.sizes != expected->sizes) return "has another type or shape";
  const Tensor here = runtime::contiguous(space == nullptr ? there : runtime::downloaded(there, *space));
  return difference_of(static_cast<const std::byte*>(here.data), *expected);
}

// A parameter's memory is where the parameter lies, if it lies as the result takes it to.
std::optional<std::string> lies_elsewhere(const graph::Graph& graph, const graph::Result& result,
                                          const Tensor& tensor, const Tensor& argument) {
  const auto base = std::get<graph::NodeId>(graph.parameters()[static_cast<std::size_t>(result.input)].value);
  if (!runtime::is_contiguous(argument) &&
      graph::strided(graph, result.value, base) != graph::Strided::always)
    return std::nullopt;
  const runtime::Bytes part = runtime::bytes_of(tensor), whole = runtime::bytes_of(argument);
  const bool inside = part.first == part.last || (part.first >= whole.first && part.last <= whole.last);
  return inside && tensor.device == argument.device
             ? std::nullopt
             : std::optional<std::string>("is not the parameter's memory");
}

}  // namespace

std::vector<std::string> stage_names() {
  std::vector<std::string> names;
  for (const Stage& stage : stages()) names.push_back(stage.name);
  return names;
}

void expect_stage(const std::string& name) {
  const std::vector<std::string> names = stage_names();
  if (std::ranges::find(names, name) != names.end()) return;
  const auto quoted = [](const std::string& known) { return cat("'", known, "'"); };
  throw Error(cat("there is no stage '", escaped(name), "' here; stages are ", join(names, ", ", quoted)));
}

void check_what_stages_kept() {
  for (const Stage& stage : stages())
    if (stage.check_kept) stage.check_kept(1);
}

Comparison::Comparison(graph::Graph graph, std::uint64_t seed, std::string_view only)
    : graph_(std::move(graph)), seed_(seed) {
  std::vector<std::string> isas = cpu::supported_isas();
  // The bits of a seed, so that each stage, which takes every so manieth, sees all of them.
  const std::string& isa = isas[static_cast<std::size_t>(std::popcount(seed)) % isas.size()];
  for (std::size_t at = 0; at < stages().size(); ++at) {
    const Stage& stage = stages()[at];
    const bool usual = (stage.isa.empty() || stage.isa == isa) && seed % stage.one_in == 0;
    if (only.empty() ? usual : stage.name == only) stages_.push_back(at);
  }
}

std::optional<Difference> Comparison::first_difference(const Arguments& arguments) {
  Expected expected;
  try {
    const std::vector<evaluate::Argument> values = arguments.values();
    expected = evaluate::evaluate(graph_, values, evaluate::Arithmetic::strict,
                                  {static_cast<std::int64_t>(seed_), 0});
  } catch (const std::exception& problem) {
    return Difference{"evaluator", problem.what()};
  }
  for (const std::size_t stage : stages_) {
    try {
      if (auto words = run(stage, arguments, expected)) return Difference{stages()[stage].name, *words};
    } catch (const std::exception& problem) {
      return Difference{stages()[stage].name, problem.what()};
    }
  }
  return std::nullopt;
}

std::optional<std::string> Comparison::run(std::size_t stage, const Arguments& arguments,
                                           const Expected& expected) {
  if (const std::string& device = stages()[stage].device; !device.empty())
    return difference_in_program({graph_, arguments.given(), seed_}, device);
  pipeline::Options options{pipeline::Mode::strict, stages()[stage].fuse, true};
  options.limits = stages()[stage].limits;
  if (stages()[stage].draws_schedules)
    options.schedule = [&, machine = stages()[stage].backend->machine()](const loops::Program& nest) {
      return std::optional(legal_schedule(nest, machine, seed_));
    };
  auto known = executables_.find(stage);
  if (known == executables_.end())
    known = executables_.emplace(stage, pipeline::compile(graph_, stages()[stage].backend, options)).first;
  const OwnResults own = own_results(graph_, expected, arguments.side());
  runtime::RunOptions options_of_run;
  options_of_run.settings.threads = 1 + static_cast<int>(seed_ / 8 % 2);
  options_of_run.seed = seed_;
  const runtime::Space* const space = known->second.space();
  const std::vector<Tensor> results = placed(own.tensors, space);
  const std::vector<runtime::Argument> given = placed(arguments.tensors(), space);
  const std::vector<runtime::Output> outputs = known->second.run(given, options_of_run, results);
  constexpr std::size_t TEXTS_A_CALL = 48;  // the headers are then a small part of it
  if (stages()[stage].check_kept) stages()[stage].check_kept(TEXTS_A_CALL);
  arguments.check();
  for (const Guarded& memory : own.memory) memory.check();
  for (std::size_t r = 0; r < expected.size(); ++r) {
    const graph::Result& result = graph_.results()[r];
    auto words = difference_of(outputs[r], result, expected[r], space);
    if (!words && result.kind == graph::Ownership::input)
      words = lies_elsewhere(graph_, result, std::get<Tensor>(outputs[r]),
                             std::get<Tensor>(given[static_cast<std::size_t>(result.input)]));
    if (words) return cat("output ", r, " '", result.name, "' ", *words);
  }
  return std::nullopt;
}

}  // namespace twinloom::tests
