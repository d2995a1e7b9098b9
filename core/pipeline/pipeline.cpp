// The pipeline as a list. See pipeline.h.
#include <tbb/info.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <span>

#include "core/base/error.h"
#include "core/cost/estimate.h"
#include "core/evaluate/fold_constants.h"
#include "core/fuse/fuse.h"
#include "core/graph/donate.h"
#include "core/graph/passes.h"
#include "core/library_calls/split.h"
#include "core/lower/lower.h"
#include "core/pipeline/events.h"
#include "core/pipeline/kept.h"
#include "core/pipeline/library.h"
#include "core/pipeline/pipeline.h"
#include "core/pipeline/tune.h"
#include "core/runtime/reuse.h"
#include "core/schedule/schedule.h"
#include "core/steps/contraction.h"

namespace twinloom::pipeline {

namespace {

// Everything that a pass may read or change. What a later form is made of is kept for reports.
struct State {
  const lower::Layouts& layouts;
  const runtime::Backend& backend;
  const Options& options;
  const index::Values& sizes;  // whose class this is for; none: for all sizes
  schedule::Choices& choices;
  graph::Graph graph;
  fuse::Fused fused;  // after `lower` without refusals
  runtime::Variant variant;
  bool has_library = false;  // from `lower` on: it may be asked, which opens it

  Library library() const { return {backend, options.mode, choices}; }
};

enum class Form : std::uint8_t { graph, nests, programs };

struct Pass {
  std::string_view name;
  Form form;  // what is printed afterwards
  void (*run)(State& state);
};

// A pass that looks at the graph alone, in all modes or in those that may round otherwise.
template <graph::Graph (*pass)(const graph::Graph&)>
void always(State& state) {
  state.graph = pass(state.graph);
}
template <graph::Graph (*pass)(const graph::Graph&)>
void outside_strict(State& state) {
  if (state.options.mode != Mode::strict) always<pass>(state);
}

void approximate_functions(State& state) {
  if (!state.options.relaxes(graph::Relaxation::approximate)) return;
  const bool has_threads = state.backend.machine().max_threads > 1;
  state.graph = graph::approximate_functions(state.graph, graph::subnormals_of(state.options.relaxed),
                                             has_threads ? ops::ComputedBy::gpu : ops::ComputedBy::cores);
}
void contract_products(State& state) {
  if (state.options.relaxes(graph::Relaxation::contract)) state.graph = graph::contract_products(state.graph);
}

void integer_products(State& state) { state.graph = state.library().integer_products(state.graph); }
void transposed_windows(State& state) { state.graph = state.library().transposed_windows(state.graph); }
void batches_in_steps(State& state) { state.graph = state.library().batches_in_steps(state.graph); }
void factors_in_steps(State& state) { state.graph = state.library().factors_in_steps(state.graph); }
// Threads of a GPU read columns side by side.
void constants_in_rows(State& state) {
  if (!state.options.made_once || state.backend.runs_nests() || state.backend.machine().max_threads > 1)
    return;
  state.graph = graph::constants_in_rows(state.graph, [](const graph::Node& products) {
    return lower::typical_count(products.shape, lower::RealizeLimits().typical_size) >=
           library_calls::CPU_THRESHOLDS.least;
  });
}
// Loops of cores are split where parts meet, so that neighbours need no remainder.
void concat_to_view(State& state) {
  if (state.backend.machine().max_threads > 1) state.graph = graph::concat_to_view(state.graph);
}
void places_in_memory(State& state) {
  if (state.backend.machine().max_threads == 1) state.graph = graph::places_in_memory(state.graph);
}
void fold_constants(State& state) { state.graph = evaluate::fold_constants(state.graph); }

// What the threads of a GPU compute while an element of the usual size passes its memory, and while a kernel
// starts; those of cores are the usual ones.
lower::Costs costs_for(const machine::Machine& machine) {
  lower::Costs costs;
  if (machine.max_threads == 1) return costs;
  constexpr double ELEMENT_BYTES = 4;
  // Of the slots that operators could have, as what is computed again waits for itself: square roots and
  // reciprocals of 3.1 million elements took 8 us more on an H100, a third of its rate.
  constexpr double REACHED = 1.0 / 3;
  constexpr double LOAD_SLOTS =
      12;                           // of a load that a cache has: its address, itself and a pass of the cache
  constexpr double PART_SLOTS = 8;  // of one that is masked: its condition, itself and the selection
  const double rate =
      REACHED * machine.clock_hertz * machine.issue_each * machine.multiprocessors * machine.warp_threads;
  const double bandwidth = machine.memory.back().bytes_per_second * machine.blocks_at_once;
  costs.memory = ELEMENT_BYTES / bandwidth * rate;
  costs.apart = costs.memory * machine.sector_bytes / ELEMENT_BYTES;
  costs.cached = LOAD_SLOTS * REACHED;
  costs.part = PART_SLOTS * REACHED;
  costs.launch = machine.launch_seconds * rate;
  costs.splits_parts = false;
  return costs;
}

// One pass over rows and columns may pay where the blocks of a machine have threads. There a reduction of few
// iterations is cut into parts, which those beside it may hinder: that the estimate weighs. Of CPUs it is not
// near enough yet.
fuse::Limits limits_for(schedule::Choices& choices, Mode mode) {
  const machine::Machine& machine = choices.machine();
  fuse::Limits limits;
  limits.costs = costs_for(machine);
  constexpr std::int64_t LEAST_BYTES = 2;        // of an element
  constexpr std::int64_t TURNS_OF_A_WORKER = 4;  // of a CPU: no worker waits long for the last
  if (machine.max_threads == 1) {
    limits.enough_turns = std::min(limits.enough_turns, TURNS_OF_A_WORKER * machine.blocks_at_once);
    limits.clearly_less = cost::clearly_less(machine);
    limits.seconds_of_mixed = [&choices](const loops::Program& nest) { return choices.chosen_seconds(nest); };
    if (mode == Mode::strict) return limits;  // tiles sum up in another order than the canonical one
    limits.is_contraction = steps::has_contraction;
    limits.seconds_in_parts = [&machine](const loops::Program& nest) {
      return schedule::chosen_seconds(steps::with_free_contractions(nest), machine);
    };
    return limits;
  }
  limits.one_pass = true;
  limits.cached_elements = machine::cache_bytes(machine) / LEAST_BYTES;
  limits.enough_turns = machine.blocks_at_once;
  limits.turns_of_columns = machine::BLOCK_THREADS;
  limits.seconds = [&choices](const loops::Program& nest) { return choices.usual_seconds(nest); };
  limits.seconds_as_chosen = [&choices](const loops::Program& nest) { return choices.chosen_seconds(nest); };
  limits.clearly_less = cost::clearly_less(machine);
  return limits;
}

// Blocks of threads sort faster than one of them sums a row, by keys of as many digits as they like, and
// where they may add floats in memory they need not sort. Cores that add at one place wait for each other.
lower::Routines routines_of(const State& state) {
  const machine::Machine& machine = state.backend.machine();
  lower::Routines routines;
  routines.sums_by_key = machine.max_threads == 1;
  routines.long_keys = machine.max_threads > 1;
  routines.atomics = machine.max_threads > 1 && state.options.relaxes(graph::Relaxation::atomics);
  routines.workers = machine.blocks_at_once;
  if (state.has_library) state.library().describe_to(routines);
  return routines;
}

void lower_graph(State& state) {
  const machine::Machine& machine = state.backend.machine();
  state.has_library = state.library().may_be_there() &&
                      library_calls::has_products(state.graph, state.library().thresholds().large);
  state.fused.lowered = lower::lower(state.graph, state.layouts, routines_of(state), costs_for(machine),
                                     state.options.row_major_results);
}

void fuse_units(State& state) {
  if (!state.options.fuse) return;
  fuse::Limits limits = state.options.limits.value_or(limits_for(state.choices, state.options.mode));
  limits.made_once = state.options.made_once && !state.backend.runs_nests();
  if (state.has_library) {
    limits.has_library_call = state.library().takes();
    limits.large_flow = static_cast<double>(machine::cache_bytes(state.backend.machine())) / 2;
  }
  state.fused = fuse::fuse(state.fused.lowered, limits);
  log_fusion(state.graph, state.fused);
}

// A contraction may be summed up in any order where the user does not ask for the canonical one.
void free_contractions(State& state) {
  if (state.options.mode == Mode::strict) return;
  for (lower::Unit& unit : state.fused.lowered.units) unit.nest = steps::with_free_contractions(unit.nest);
}

void split_library_calls(State& state) {
  if (!state.has_library) return;
  const Library library = state.library();
  library_calls::Split made = library_calls::split(
      state.fused.lowered, state.graph, [&](const loops::Program& nest) { return library.suits(nest); });
  state.fused.lowered = std::move(made.lowered);
  for (fuse::Refusal& refusal : state.fused.refusals)
    refusal.first = made.moved[refusal.first], refusal.second = made.moved[refusal.second];
}

// The programs of one unit in launch order, with the schedule they came from.
struct Scheduled {
  std::vector<loops::Program> programs;
  std::string schedule;
};
Scheduled scheduled(const loops::Program& nest, const schedule::Schedule& chosen, const State& state) {
  return {state.choices.apply(nest, chosen), schedule::print(chosen)};
}

// How the unit's buffers lie in a run of these sizes.
std::vector<measure::Layout> layouts_of(const lower::Unit& unit, const lower::Lowered& lowered,
                                        const index::Values& sizes) {
  std::vector<measure::Layout> layouts;
  for (const lower::ValueId id : unit.arguments) {
    const lower::Value& value = lowered[id];
    if (value.storage == lower::Storage::temporary)
      layouts.push_back({{index::evaluate(value.count, sizes)}, {1}});
    else
      layouts.push_back({index::evaluate(value.shape, sizes), index::evaluate(value.strides, sizes)});
  }
  return layouts;
}

Scheduled schedule_unit(const loops::Program& nest, const lower::Unit& unit, const State& state,
                        Tuner& tuner) {
  if (state.backend.runs_nests() || nest.library) return {{nest}, ""};
  const auto given = state.options.schedule ? state.options.schedule(nest) : std::nullopt;
  if (!given) {
    const auto layouts = [&](const index::Values& sizes) {
      return layouts_of(unit, state.fused.lowered, sizes);
    };
    return scheduled(nest, tuner.schedule_of(nest, layouts), state);
  }
  auto reason = schedule::why_illegal(nest, *given);
  if (!reason) reason = schedule::why_unfit(nest, *given, state.backend.machine());
  if (reason)
    throw Error(cat("the schedule that was given for kernel '", nest.name, "' is not legal: ", *reason));
  return scheduled(nest, *given, state);
}

// The nest with what the class of sizes tells of it, which the variant then depends on.
loops::Program of_class(const loops::Program& nest, State& state) {
  if (state.sizes.empty() || state.backend.runs_nests() || nest.library) return nest;
  const auto questions = schedule::size_questions(nest, state.backend.machine());
  state.variant.sizes.add(questions, state.sizes);
  return loops::narrowed(nest, questions, state.sizes);
}

// Mode `fast`: in any order where that is faster. Kernels are the same ones as in mode `fused`.
loops::Program in_chosen_order(loops::Program nest, const State& state) {
  const bool is_as_it_is = state.backend.runs_nests() || nest.library;
  if (!state.options.relaxes(graph::Relaxation::reassociate) || is_as_it_is) return nest;
  return schedule::choose_orders(nest, state.choices);
}

// With rows cut where memory is aligned, where that is faster.
loops::Program with_aligned_rows(const loops::Program& nest, const State& state) {
  return state.backend.runs_nests() || nest.library ? nest : schedule::choose_aligned(nest, state.choices);
}

// The arguments of a program: the nest's, then partial totals, which become temporaries.
std::vector<lower::ValueId> arguments_of(const loops::Program& program, const lower::Unit& unit,
                                         std::vector<lower::Value>& values,
                                         std::map<std::string, lower::ValueId>& partials) {
  std::vector<lower::ValueId> arguments = unit.arguments;
  for (std::size_t b = unit.arguments.size(); b < program.buffers.size(); ++b) {
    const loops::BufferInfo& buffer = program.buffers[b];
    if (buffer.local) continue;
    const auto next = lower::ValueId{static_cast<std::uint32_t>(values.size())};
    const auto [found, added] = partials.emplace(buffer.name, next);
    if (added) {
      lower::Value value;
      value.name = buffer.name;
      value.dtype = buffer.dtype;
      value.shape = {buffer.count};
      value.strides = {1};
      value.count = buffer.count;
      values.push_back(std::move(value));
    }
    arguments.push_back(found->second);
  }
  return arguments;
}

void schedule_units(State& state) {
  Tuner tuner(state.options.tuning, state.backend, state.sizes, state.choices);
  runtime::Variant& variant = state.variant;
  variant.values = state.fused.lowered.values;
  for (std::size_t u = 0; u < state.fused.lowered.units.size(); ++u) {
    const lower::Unit& unit = state.fused.lowered.units[u];
    const loops::Program nest = with_aligned_rows(in_chosen_order(of_class(unit.nest, state), state), state);
    variant.groups.push_back({nest.name, unit.nodes, nest});
    Scheduled made = schedule_unit(nest, unit, state, tuner);
    std::map<std::string, lower::ValueId> partials;
    for (loops::Program& program : made.programs) {
      runtime::Step step;
      step.arguments = arguments_of(program, unit, variant.values, partials);
      step.program = std::move(program);
      step.schedule = made.schedule;
      step.in_place = runtime::in_place_pairs(state.graph, variant.values, step.program, step.arguments);
      step.unit = u;
      variant.steps.push_back(std::move(step));
    }
  }
  for (const fuse::Refusal& refusal : state.fused.refusals)
    variant.missed.push_back({refusal.first, refusal.second, refusal.words});
  log_schedules(variant, state.backend, state.sizes);
}

using Clock = std::chrono::steady_clock;
constexpr std::string_view BUILD = "build";

// Side by side, in an arena of its own, so that the caller's tasks do not wait among them; on the calling
// thread where one is asked for. Of several failures one is thrown.
void build_kernels(State& state) {
  std::mutex saying;
  std::size_t count = 0;
  const auto build = [&](runtime::Step& step) {
    const Clock::time_point begin = Clock::now();
    runtime::Built built = step.in_place.empty() ? state.backend.build(step.program)
                                                 : state.backend.build_in_place(step.program, step.in_place);
    step.kernel = std::move(built.kernel);
    step.source = std::move(built.source);
    step.compile_seconds = built.compile_seconds;
    step.cached = built.cached;
    step.code = std::move(built.code);
    log_code(step);
    if (!state.options.progress) return;
    const Clock::time_point end = Clock::now();
    const std::lock_guard alone(saying);
    state.options.progress({BUILD, step.program.name, ++count, state.variant.steps.size(), begin, end});
  };
  const int cores = tbb::info::default_concurrency(), wanted = state.options.build_threads;
  if (wanted == 1) {
    std::ranges::for_each(state.variant.steps, build);
    return;
  }
  tbb::task_arena arena(wanted > 0 ? std::min(wanted, cores) : cores);
  arena.execute([&] { tbb::parallel_for_each(state.variant.steps, build); });
}

constexpr std::array passes_of_all_sizes = {
    Pass{"remove_dead", Form::graph, always<graph::remove_dead>},
    Pass{"drop_implicit_rounding", Form::graph, outside_strict<graph::drop_implicit_rounding>},
    Pass{"variance_in_parts", Form::graph, outside_strict<graph::variance_in_parts>},
    Pass{"scatter_to_sums", Form::graph, outside_strict<graph::scatter_to_sums>},
    Pass{"shorten_functions", Form::graph, outside_strict<graph::shorten_functions>},
    Pass{"approximate_functions", Form::graph, approximate_functions},
    Pass{"contract_products", Form::graph, contract_products},
    Pass{"integer_products", Form::graph, integer_products},
    Pass{"transposed_windows", Form::graph, transposed_windows},
    Pass{"fold_constants", Form::graph, fold_constants},
    Pass{"gather_to_view", Form::graph, always<graph::gather_to_view>},
    Pass{"concat_to_view", Form::graph, concat_to_view},
    Pass{"places_in_memory", Form::graph, places_in_memory},
    Pass{"scatter_to_select", Form::graph, always<graph::scatter_to_select>},
    Pass{"reduce_once", Form::graph, always<graph::reduce_once>},
    Pass{"sum_chosen", Form::graph, always<graph::sum_chosen>},
    Pass{"apply_before_select", Form::graph, always<graph::apply_before_select>},
    Pass{"convert_parts", Form::graph, always<graph::convert_parts>},
    Pass{"maxima_of_integers", Form::graph, always<graph::maxima_of_integers>},
    Pass{"batches_in_steps", Form::graph, batches_in_steps},
    Pass{"factors_in_steps", Form::graph, factors_in_steps},
    Pass{"constants_in_rows", Form::graph, constants_in_rows},
    Pass{"lower", Form::nests, lower_graph},
    Pass{"fuse", Form::nests, fuse_units},
    Pass{"free_contractions", Form::nests, free_contractions},
    Pass{"split_library_calls", Form::nests, split_library_calls},
};
constexpr std::array passes_of_a_class = {
    Pass{"schedule", Form::programs, schedule_units},
    Pass{BUILD, Form::programs, build_kernels},
};

std::string print(const State& state, Form form) {
  switch (form) {
    case Form::graph:
      return graph::print(state.graph);
    case Form::nests:
      return lower::print(state.fused.lowered);
    case Form::programs:
      return join(state.variant.steps, "\n",
                  [](const runtime::Step& step) { return loops::print(step.program); });
  }
  return {};
}

void verify(const State& state, Form form) {
  const loops::Stage stage = state.backend.runs_nests() ? loops::Stage::nest : loops::Stage::program;
  switch (form) {
    case Form::graph:
      return graph::verify(state.graph);
    case Form::nests:
      return lower::verify(state.fused.lowered);
    case Form::programs:
      for (const runtime::Step& step : state.variant.steps) loops::verify(step.program, stage);
  }
}

void run(State& state, std::span<const Pass> passes, std::vector<PassText>* texts) {
  for (const Pass& pass : passes) {
    const Clock::time_point begin = Clock::now();
    pass.run(state);
    const std::size_t total = state.variant.steps.size();
    if (state.options.progress)
      state.options.progress({pass.name, {}, pass.name == BUILD ? total : 0, total, begin, Clock::now()});
    if (state.options.verify) verify(state, pass.form);
    if (texts != nullptr) texts->push_back({std::string(pass.name), print(state, pass.form)});
  }
}

std::shared_ptr<const runtime::Variant> variant_of(State state, std::vector<PassText>* texts) {
  run(state, passes_of_a_class, texts);
  state.variant.graph = std::move(state.graph);
  return std::make_shared<const runtime::Variant>(std::move(state.variant));
}

// What the passes before the class of sizes counts made of a graph, by its layouts and zero sizes: the next
// class begins with it.
class FusedGraphs {
 public:
  struct Made {
    graph::Graph graph;
    fuse::Fused fused;
  };
  std::shared_ptr<const Made> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = made_.find(key);
    return found == made_.end() ? nullptr : found->second;
  }
  void keep(const std::string& key, Made made) {
    constexpr std::size_t MOST = 8;
    const std::lock_guard lock(mutex_);
    if (made_.size() >= MOST) made_.clear();
    made_[key] = std::make_shared<const Made>(std::move(made));
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const Made>> made_;
};

std::string key_of(const lower::Layouts& layouts, const index::Values& sizes) {
  std::string key = runtime::key_of(layouts);
  for (const auto& [symbol, value] : sizes)
    if (value == 0) key += cat(" ", symbol);
  return key;
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const Pass& pass : passes_of_all_sizes) names.emplace_back(pass.name);
  for (const Pass& pass : passes_of_a_class) names.emplace_back(pass.name);
  return names;
}

std::shared_ptr<const runtime::Variant> make_variant(const graph::Graph& graph, const lower::Layouts& layouts,
                                                     const runtime::Backend& backend, const Options& options,
                                                     std::vector<PassText>* texts,
                                                     const index::Values& sizes) {
  schedule::Choices choices(backend.machine());
  State state{layouts, backend, options, sizes, choices, graph, {}, {}};
  run(state, passes_of_all_sizes, texts);
  return variant_of(std::move(state), texts);
}

runtime::Executable::Maker maker(std::shared_ptr<const runtime::Backend> backend, const Options& options) {
  return [backend = std::move(backend), options,
          known = std::make_shared<FusedGraphs>()](const runtime::Request& asked) {
    const KeptVariants kept(asked, *backend, options);
    schedule::Choices choices(backend->machine());
    State state{asked.layouts, *backend, options, asked.sizes, choices, asked.graph, {}, {}};
    if (auto found = kept.find()) {
      state.variant = std::move(*found);
      build_kernels(state);
      return std::make_shared<const runtime::Variant>(std::move(state.variant));
    }
    const std::string key = key_of(asked.layouts, asked.sizes);
    const auto fused = asked.sizes.empty() ? nullptr : known->find(key);
    if (fused != nullptr) {
      state.graph = fused->graph, state.fused = fused->fused;
    } else {
      run(state, passes_of_all_sizes, nullptr);
      if (!asked.sizes.empty()) known->keep(key, {state.graph, state.fused});
    }
    const auto made = variant_of(std::move(state), nullptr);
    kept.keep(*made);
    return made;
  };
}

runtime::Executable compile(const graph::Graph& graph, std::shared_ptr<const runtime::Backend> backend,
                            const Options& options) {
  const runtime::Space* const space = backend->space();
  return {graph::donate(graph, options.donated), maker(std::move(backend), options), space};
}

}  // namespace twinloom::pipeline
