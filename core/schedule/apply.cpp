// The law's door and the mechanics' frame: common loops, and in them the items of the nest one after the
// other, each sibling built by the sort of totals it has.
#include <algorithm>
#include <functional>

#include "core/base/error.h"
#include "core/loops/parts.h"
#include "core/schedule/build.h"
#include "core/schedule/forms.h"
#include "core/schedule/index_set_splitting.h"
#include "core/schedule/transposed_rows.h"
#include "core/steps/tidy.h"

namespace twinloom::schedule {

namespace {

class Applier {
 public:
  explicit Applier(const Plan& plan) : plan_(plan), names_(plan) {
    for (const loops::Item& item : plan.shape.items) {
      const auto* stmt = std::get_if<Ref<Stmt>>(&item);
      if (stmt == nullptr) continue;
      if (const auto* start = std::get_if<loops::Start>(&(*stmt)->node))
        starts_.emplace(start->total, *start);
    }
  }

  std::vector<loops::Program> build() {
    loops::for_each_stmt(*plan_.nest.body, [&](const Stmt& stmt) {
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) outside_.found.insert(index->symbol);
    });
    for (const AxisPlan& axis : plan_.common.axes)  // one index for all elements is none for no element
      if (has_elements(axis, plan_.facts))
        outside_.steady[axis.axis] = steady_indices(plan_.shape, axis.axis);
    if (plan_.grid) return build_grid();
    if (plan_.scan_split) return build_split_scan();
    staged_ = stage_rows(plan_, names_);
    add_prefetches();
    staged_.arrays.insert(staged_.arrays.end(), plan_.kept.begin(), plan_.kept.end());
    lay_out_rows(plan_, names_, staged_);
    if (plan_.columns) return build_rows_and_columns();
    const auto rows = [&](const Surroundings& here) { return in_arrays(items(here)); };
    const std::size_t start = start_of_task(plan_.common);
    if (plan_.panel) panel_.emplace(plan_, staged_.shape, starts_, names_);
    Walk walk(plan_.common, outside_, names_);
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at + 2 == plan_.common.order.size()) {
        for (const Tile& tile : staged_.tiles)
          loops = in_tile(plan_, tile, walk, state, names_, std::move(loops));
        if (panel_) loops = panel_->in_arrays(panel_->fill(walk, state), std::move(loops));
      }
      return at == start ? in_task_arrays(std::move(loops)) : loops;
    };
    return {program_of(walk.run(rows, wrap), "")};
  }

 private:
  Ref<Stmt> walk(const Walk::Innermost& innermost) {
    return Walk(plan_.common, outside_, names_).run(innermost, {});
  }

  loops::Program program_of(const Ref<Stmt>& body, std::string_view ending) {
    steps::Kernel kernel{plan_.nest, steps::facts_inside(*body, plan_.facts)};
    kernel.program.name += ending;
    kernel.program.buffers = names_.buffers();
    kernel.program.body = body;
    kernel = with_totals(std::move(kernel));
    loops::Program program = std::move(kernel.program);
    program.body = split_index_sets(program.body, kernel.facts, names_);
    if (plan_.transposed_rows) program.body = transpose_rows(program.body, names_);
    program.buffers = names_.buffers();
    program.outermost_fastest = plan_.outermost_fastest;
    for (const loops::Buffer buffer : plan_.streamed) program.buffers[buffer.index].streamed = true;
    return with_arguments_first(std::move(program));
  }

  // The law has let the order of the loops pass.
  steps::Kernel with_totals(steps::Kernel kernel) {
    auto lowered = steps::lower_reductions(std::move(kernel), steps::Proofs::given);
    const auto* reason = std::get_if<std::string>(&lowered);
    CHECK(reason == nullptr, "a lawful order cannot be lowered: ", *reason);
    names_.take_temps(std::get<steps::Kernel>(lowered).program);
    return std::get<steps::Kernel>(std::move(lowered));
  }

  // What one program hands to the next is an argument that is named after the arrays of a row.
  static loops::Program with_arguments_first(loops::Program program) {
    const auto is_local = [](const loops::BufferInfo& info) { return info.local; };
    if (std::ranges::is_partitioned(program.buffers, std::not_fn(is_local))) return program;
    loops::Renaming renaming;
    std::vector<loops::BufferInfo> buffers;
    for (const bool local : {false, true}) {
      for (std::uint32_t index = 0; index < program.buffers.size(); ++index) {
        if (program.buffers[index].local != local) continue;
        renaming.buffers[loops::Buffer{index}] = loops::Buffer{static_cast<std::uint32_t>(buffers.size())};
        buffers.push_back(program.buffers[index]);
      }
    }
    program.body = loops::rename(program.body, renaming);
    program.buffers = std::move(buffers);
    return program;
  }

  std::vector<loops::Program> build_rows_and_columns() {
    ColumnParts parts(plan_, staged_.shape, names_);
    columns_ = &parts;
    const Ref<Stmt> rows =
        parts.walk([&](const Surroundings& here) { return in_arrays(items(here)); }, outside_);
    columns_ = nullptr;
    return {program_of(rows, "_rows"),
            program_of(build_columns(plan_, parts.totals(), outside_, names_), "_columns")};
  }

  std::vector<loops::Program> build_grid() {
    staged_.shape = plan_.shape;
    const Parts parts(plan_, starts_, names_);
    const index::Symbol at = names_.symbol("grid");
    names_.facts().assume_below(at, parts.count());
    const Scope scope = parts.scope_of(at);
    const Ref<Stmt> rows =
        walk([&](const Surroundings& here) { return part(parts, scope, at, with_last_rows(plan_, here)); });
    const Ref<Stmt> blocks = loops::stmt(loops::Loop{at, parts.count(), loops::Bind::block, rows});
    parts_ = &parts;
    const Ref<Stmt> rest = walk([&](const Surroundings& here) { return items(here); });
    parts_ = nullptr;
    loops::Program gathering = program_of(rest, "");
    // The threads that gather the parts of an accumulator are neighbours.
    gathering.outermost_fastest = false;
    return {program_of(blocks, "_parts"), std::move(gathering)};
  }

  std::vector<loops::Program> build_split_scan() {
    ScanParts parts(plan_, starts_, names_);
    const index::Symbol at = names_.symbol("part");
    names_.facts().assume_below(at, parts.count());
    const auto by_parts = [&](ScanParts::Step step, const index::Expr& part) {
      parts.begin(step);
      const Scope scope = parts.scope_of(part);
      const Ref<Stmt> rows = walk(
          [&](const Surroundings& here) { return scan_part(parts, scope, with_last_rows(plan_, here)); });
      return loops::stmt(loops::Loop{at, parts.count(), loops::Bind::block, rows});
    };
    const Ref<Stmt> carries = walk([&](const Surroundings& here) { return parts.carry(here); });
    // The last program begins with the last parts, which the caches still hold.
    return {writes_alone(program_of(by_parts(ScanParts::Step::totals, at), "_totals")),
            writes_alone(program_of(carries, "_carries")),
            writes_alone(program_of(by_parts(ScanParts::Step::results, parts.count() - 1 - at), ""))};
  }
  Ref<Stmt> scan_part(const ScanParts& parts, const Scope& scope, const Surroundings& here) {
    return own_and(here, plan_.shape.items,
                   [&](const loops::Sibling& sibling, std::vector<Ref<Stmt>>& result) {
                     result.push_back(build_scan({plan_, scope, sibling, starts_, &parts}, here, names_));
                   });
  }
  // Of what programs hand to each other each writes what it stores; the others only read it.
  loops::Program writes_alone(loops::Program program) const {
    std::set<loops::Buffer> stored;
    loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<loops::Store>(&stmt.node)) stored.insert(store->buffer);
    });
    for (std::uint32_t index = 0; index < program.buffers.size(); ++index) {
      const bool handed = index >= plan_.nest.buffers.size() && !program.buffers[index].local;
      if (handed) program.buffers[index].written = stored.contains(loops::Buffer{index});
    }
    return program;
  }

  // Everything up to the first sibling, over one part, and the store of its totals.
  Ref<Stmt> part(const Parts& parts, const Scope& scope, const index::Symbol& at, const Surroundings& here) {
    const std::vector<loops::Item>& all = plan_.shape.items;
    const auto first = std::ranges::find_if(
        all, [](const loops::Item& item) { return std::holds_alternative<loops::Sibling>(item); });
    const auto build = [&](const loops::Sibling& sibling, std::vector<Ref<Stmt>>& result) {
      result.push_back(build_sibling({plan_, scope, sibling, starts_}, here));
    };
    return loops::block({own_and(here, {all.begin(), first + 1}, build), parts.store(at, here)});
  }

  // A row's own statements, and what build(sibling, statements) adds. An accumulator is started by the loop nest that
  // reaches it.
  template <class Build>
  static Ref<Stmt> own_and(const Surroundings& here, const std::vector<loops::Item>& items,
                           const Build& build) {
    std::vector<Ref<Stmt>> result;
    for (const loops::Item& item : items) {
      if (const auto* sibling = std::get_if<loops::Sibling>(&item))
        build(*sibling, result);
      else if (const auto& stmt = std::get<Ref<Stmt>>(item);
               !std::holds_alternative<loops::Start>(stmt->node))
        result.push_back(settle(stmt, here));
    }
    return loops::block(std::move(result));
  }

  void add_prefetches() {
    std::size_t number = 0;
    for (loops::Item& item : staged_.shape.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      for (const Prefetched& prefetched : plan_.prefetched)
        if (prefetched.sibling == number && !prefetched.is_run) add_prefetch(prefetched, sibling->inner);
      ++number;
    }
  }

  void add_prefetch(const Prefetched& prefetched, std::vector<Ref<Stmt>>& inner) {
    loops::Prefetch what = prefetched.what;
    if (!prefetched.found) {
      inner.insert(inner.begin(), loops::stmt(std::move(what)));
      return;
    }
    loops::Index found = *prefetched.found;
    const index::Symbol place = names_.symbol(found.symbol.name());
    what.offset = index::substitute(what.offset, {{found.symbol, index::Expr(place)}});
    found.symbol = place;
    names_.facts().assume_below(place, found.bound);
    inner.insert(inner.begin(), {loops::stmt(std::move(found)), loops::stmt(std::move(what))});
  }

  Ref<Stmt> items(const Surroundings& around) {
    const Surroundings here = plan_.siblings.empty() ? around : with_last_rows(plan_, around);
    std::size_t number = 0;
    return own_and(here, staged_.shape.items,
                   [&](const loops::Sibling& sibling, std::vector<Ref<Stmt>>& result) {
                     const Scope& scope = plan_.siblings[number++];
                     if (number == 1 && parts_ != nullptr)
                       return result.push_back(parts_->gather(here, names_));
                     if (panel_) return result.push_back(panel_->gather());
                     add_runs(number - 1, here, result);
                     result.push_back(build_sibling({plan_, scope, sibling, starts_}, here));
                   });
  }

  void add_runs(std::size_t sibling, const Surroundings& here, std::vector<Ref<Stmt>>& result) const {
    for (const Prefetched& prefetched : plan_.prefetched)
      if (prefetched.sibling == sibling && prefetched.is_run) result.push_back(run(prefetched, here));
  }
  Ref<Stmt> run(const Prefetched& prefetched, const Surroundings& here) const {
    if (columns_ == nullptr) return settle(loops::stmt(prefetched.what), here);
    loops::Prefetch what = prefetched.what;
    what.mask = what.mask && columns_->has_later(prefetched.ahead);
    return settle(loops::stmt(std::move(what)), columns_->later(here, prefetched.ahead));
  }

  Ref<Stmt> in_arrays(Ref<Stmt> stmt) const {
    for (loops::Scratch array : staged_.arrays) {
      array.body = std::move(stmt);
      stmt = loops::stmt(std::move(array));
    }
    return stmt;
  }

  // Filled before the turns of a task.
  Ref<Stmt> in_task_arrays(Ref<Stmt> stmt) const {
    for (loops::Scratch array : staged_.of_task) {
      array.body = loops::block({array.body, std::move(stmt)});
      stmt = loops::stmt(std::move(array));
    }
    return stmt;
  }

  Ref<Stmt> build_sibling(const SiblingSource& source, const Surroundings& here) {
    return source.scope.reach == Reach::scan ? build_scan(source, here, names_)
                                             : build_totals(source, here, names_);
  }

  const Plan& plan_;
  Names names_;
  std::map<Temp, loops::Start> starts_;
  Surroundings outside_;
  StagedNest staged_;
  std::optional<Panel> panel_;
  const ColumnParts* columns_ = nullptr;  // while the rows beside totals of columns are built
  const Parts* parts_ = nullptr;          // while the second program of a grid split is built
};

}  // namespace

namespace {

Schedule steps_of(const Schedule& schedule) {
  Schedule alone;
  alone.steps = schedule.steps;
  return alone;
}

// Without lists, which have a row for each loop, and know no nests of several parts.
bool is_by_steps(const loops::Program& nest, const Schedule& schedule) {
  if (loops::has_parts(nest)) return true;
  return !schedule.steps.empty() && schedule.loops.empty() && schedule == steps_of(schedule);
}

std::variant<loops::Program, std::string> apply_steps(const loops::Program& nest, const Schedule& schedule) {
  if (schedule != steps_of(schedule)) return "a nest of several parts has a schedule of steps";
  auto stepped = steps::apply(steps::kernel_of(nest), schedule.steps);
  if (auto* reason = std::get_if<std::string>(&stepped)) return std::move(*reason);
  auto lowered = steps::lower_reductions(std::get<steps::Kernel>(std::move(stepped)));
  if (auto* reason = std::get_if<std::string>(&lowered)) return std::move(*reason);
  auto waiting = steps::place_barriers(std::get<steps::Kernel>(lowered));
  if (auto* reason = std::get_if<std::string>(&waiting)) return std::move(*reason);
  return std::get<steps::Kernel>(std::move(waiting)).program;
}

// Why a schedule may not be applied, without applying what need not be.
std::optional<std::string> reason_against(const Forms& forms, const Schedule& schedule) {
  const auto refused = [](const auto& made) {
    const auto* reason = std::get_if<std::string>(&made);
    return reason == nullptr ? std::nullopt : std::optional(*reason);
  };
  return is_by_steps(forms.nest(), schedule) ? refused(apply_steps(forms.nest(), schedule))
                                             : refused(forms.resolved(schedule));
}

}  // namespace

bool is_legal(const Forms& forms, const Schedule& schedule) { return !reason_against(forms, schedule); }

std::optional<std::string> why_illegal(const loops::Program& nest, const Schedule& schedule) {
  if (!is_call(nest)) return reason_against(Forms(nest), schedule);
  if (schedule == Schedule{}) return std::nullopt;
  return "a routine's call has no loops to schedule";
}

std::variant<std::vector<loops::Program>, std::string> programs_of(const Forms& forms,
                                                                   const Schedule& schedule) {
  if (!is_by_steps(forms.nest(), schedule)) {
    const auto& resolved = forms.resolved(schedule);
    if (const auto* reason = std::get_if<std::string>(&resolved)) return *reason;
    return Applier(std::get<Plan>(resolved)).build();
  }
  auto made = apply_steps(forms.nest(), schedule);
  if (auto* reason = std::get_if<std::string>(&made)) return std::move(*reason);
  return std::vector{std::get<loops::Program>(std::move(made))};
}

std::vector<loops::Program> apply(const loops::Program& nest, const Schedule& schedule) {
  if (is_call(nest)) return {nest};
  auto programs = programs_of(Forms(nest), schedule);
  const auto* reason = std::get_if<std::string>(&programs);
  CHECK(reason == nullptr, "the schedule is illegal: ", *reason, "\n", loops::print(nest), print(schedule));
  return std::get<std::vector<loops::Program>>(std::move(programs));
}

}  // namespace twinloom::schedule
