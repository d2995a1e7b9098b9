// Siblings with scans, one element after the other; each association as canonical.h writes it.
//   start carry
//   for k.0 { start o
//             for k.1 { start p
//                       for k.2 { merge p (x); result = carry with (o with p) }
//                       merge o (p) }
//             merge carry (o) }
// An exclusive scan reads before it merges: carry with (o with p) is then the result of the element
// before, and the first element is given the value over nothing. Under a common vector loop every lane
// walks a scan of its own. Of a split scan (split_scan.cpp) there is a carry for each turn of k.0.
#include "core/loops/canonical.h"
#include "core/schedule/scans.h"

namespace twinloom::schedule {

void RunningScans::add_scans(std::initializer_list<Temp Running::*> temps, const std::vector<Array>& arrays) {
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    const auto* scan = std::get_if<loops::Scan>(&inner->node);
    if (scan == nullptr) continue;
    Running running{*scan, source.starts.at(scan->total), {}, {}, {}, {}, {}, {}, {}, {}};
    for (const auto temp : temps) running.*temp = names.temp();
    const loops::Start& start = running.start;
    for (int part = 0; part < ops::parts(start.monoid); ++part)
      for (const Array& array : arrays)
        (running.*array.buffers)
            .push_back(
                names.buffer({std::string(array.name), ops::part_type(start.monoid, start.element, part),
                              array.count, true, true}));
    all.push_back(std::move(running));
  }
}

index::Expr RunningScans::first_of_chunk(const Scope& scope, const State& state) const {
  const AxisPlan& axis = source.scope.axes.front();
  return axis.base + Walk(scope, around, names).base_of(axis, loops::SCAN_CHUNK, state);
}

Ref<Stmt> RunningScans::start_all(Temp Running::*accumulator, const std::vector<loops::Axis>& copies,
                                  Ref<Stmt> rest) const {
  std::vector<Ref<Stmt>> stmts;
  for (const Running& running : all)
    stmts.push_back(loops::stmt(start_like(running.start, running.*accumulator, copies)));
  stmts.push_back(std::move(rest));
  return loops::block(std::move(stmts));
}

void RunningScans::add_carries(Temp Running::*carry, const index::Expr& first,
                               std::vector<Ref<Stmt>>& stmts) const {
  for (const Running& running : all)
    stmts.push_back(source.parts->start_from_carry(running.scan, running.*carry, first, around));
}

void RunningScans::add_prefixes(const index::Symbol& across, std::vector<Ref<Stmt>>& stmts) const {
  for (const Running& running : all)
    stmts.push_back(loops::stmt(loops::Prefix{running.before, running.all, running.row, across}));
}

std::vector<Ref<Stmt>> RunningScans::inside(const Surroundings& here, bool with_stores,
                                            const Scanned& scanned) const {
  std::vector<Ref<Stmt>> stmts;
  auto running = all.begin();
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    if (std::holds_alternative<loops::Scan>(inner->node))
      scanned(*running++, stmts);
    else if (with_stores || !std::holds_alternative<loops::Store>(inner->node))
      stmts.push_back(settle(inner, here));
  }
  return stmts;
}

void RunningScans::add_to_row(const Running& running, std::vector<Ref<loops::Value>> values,
                              const index::Condition& mask, const index::Expr& at,
                              std::vector<Ref<Stmt>>& stmts) const {
  const Ref<Stmt> merge = loops::stmt(loops::Merge{running.row, std::move(values), mask});
  const bool exclusive = running.scan.exclusive && !only_totals();
  if (!exclusive) stmts.push_back(merge);
  if (!only_totals()) store_all(running.values, at, {}, running.row, stmts);
  if (exclusive) stmts.push_back(merge);
}

Ref<Stmt> RunningScans::store_values(const Surroundings& here, const index::Expr& at) const {
  return names.freshen(loops::block(
      without_unread(inside(here, false, [&](const Running& running, std::vector<Ref<Stmt>>& stmts) {
        const auto values = settle(running.scan.values, here);
        for (std::size_t part = 0; part < values.size(); ++part)
          stmts.push_back(
              loops::stmt(loops::Store{running.values[part], at, {}, values[part], loops::Update::replace}));
      }))));
}

Ref<Stmt> RunningScans::add_values_to_row(const index::Condition& mask, const index::Expr& at) const {
  std::vector<Ref<Stmt>> stmts;
  for (const Running& running : all) {
    std::vector<Ref<loops::Value>> values;
    for (const loops::Buffer array : running.values) {
      const Temp value = names.temp();
      stmts.push_back(loops::stmt(loops::Let{value, load_of(names, array, at)}));
      values.push_back(loops::read(value));
    }
    add_to_row(running, std::move(values), mask, at, stmts);
  }
  return loops::block(std::move(stmts));
}

void RunningScans::add_result(const Running& running, Temp Running::*carry, const index::Expr& row,
                              const index::Expr& value, const Surroundings& here,
                              std::vector<Ref<Stmt>>& stmts) const {
  const Temp in_chunk = names.temp();
  stmts.push_back(loops::stmt(start_like(running.start, in_chunk, {})));
  stmts.push_back(merge_arrays(in_chunk, running.rows, row));
  stmts.push_back(merge_arrays(in_chunk, running.values, value));
  add_result(running, carry, in_chunk, here, stmts);
}

void RunningScans::add_result(const Running& running, Temp Running::*carry, Temp in_chunk,
                              const Surroundings& here, std::vector<Ref<Stmt>>& stmts) const {
  const loops::Scan& scan = running.scan;
  const loops::Start& start = running.start;
  stmts.push_back(loops::stmt(start_like(start, scan.result, {})));
  stmts.push_back(merge_total(scan.result, running.*carry, start));
  stmts.push_back(merge_total(scan.result, in_chunk, start));
  const auto nothing = ops::over_nothing(start.monoid, start.element);
  if (!scan.exclusive || !nothing || *nothing == ops::identity(start.monoid, start.element)[0]) return;
  const index::Expr place = index::substitute(scan.place, here.axes);
  stmts.push_back(loops::stmt(
      loops::Merge{scan.result, {loops::literal(*nothing, start.element)}, index::Condition{{{place, 1}}}}));
}

Ref<Stmt> RunningScans::merge_arrays(Temp into, const Buffers& arrays, const index::Expr& at,
                                     const index::Condition& mask) const {
  return loops::stmt(loops::Merge{into, load_all(names, arrays, at), mask});
}

Ref<Stmt> RunningScans::in_arrays(loops::Place place, Ref<Stmt> stmt) const {
  for (const Running& running : all)
    for (const Buffers* arrays : {&running.values, &running.rows, &running.totals})
      for (const loops::Buffer array : *arrays)
        stmt = loops::stmt(loops::Scratch{array, names.buffers()[array.index].count, place, std::move(stmt)});
  return stmt;
}

namespace {

class Scans {
 public:
  Scans(const SiblingSource& source, const Surroundings& around, Names& names)
      : scans_{source, around, names, {}} {
    scans_.add_scans({&Running::row, &Running::before, &Running::carry}, {});
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) { return elements(here); };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == 2) return enclose(std::move(loops), &Running::row, &Running::before);
      if (at == 1 && scans_.in_parts()) return chunk_of_part(std::move(loops), state);
      if (at == 1) return enclose(std::move(loops), &Running::before, &Running::carry);
      return at == 0 && !scans_.in_parts() ? scans_.start_all(&Running::carry, {}, std::move(loops)) : loops;
    };
    return Walk(scans_.source.scope, scans_.around, scans_.names).run(innermost, wrap);
  }

 private:
  // Starts an accumulator before the loops and merges it afterwards into the one outside.
  Ref<Stmt> enclose(Ref<Stmt> loops, Temp Running::*inner, Temp Running::*outside) const {
    std::vector<Ref<Stmt>> stmts = {scans_.start_all(inner, {}, std::move(loops))};
    for (const Running& running : scans_.all)
      stmts.push_back(merge_total(running.*outside, running.*inner, running.start));
    return loops::block(std::move(stmts));
  }

  // Its total, or its results from the carry that memory holds.
  Ref<Stmt> chunk_of_part(Ref<Stmt> loops, const State& state) const {
    const index::Expr first = scans_.first_of_chunk(scans_.source.scope, state);
    std::vector<Ref<Stmt>> stmts;
    if (!scans_.only_totals()) scans_.add_carries(&Running::carry, first, stmts);
    stmts.push_back(scans_.start_all(&Running::before, {}, std::move(loops)));
    for (const Running& running : scans_.all)
      if (scans_.only_totals())
        stmts.push_back(scans_.source.parts->store(running.scan, running.before, first, scans_.around));
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> elements(const Surroundings& here) const {
    std::vector<Ref<Stmt>> stmts =
        scans_.inside(here, !scans_.only_totals(), [&](const Running& running, std::vector<Ref<Stmt>>& into) {
          const auto values = named_values(running, here, into);
          const Ref<Stmt> merge =
              loops::stmt(loops::Merge{running.row, values, ends_of(here, scans_.source.scope)});
          const bool exclusive = running.scan.exclusive && !scans_.only_totals();
          if (!exclusive) into.push_back(merge);
          if (!scans_.only_totals()) add_element(running, here, into);
          if (exclusive) into.push_back(merge);
        });
    return loops::block(scans_.only_totals() ? without_unread(std::move(stmts)) : std::move(stmts));
  }
  // What is scanned; under names of their own where a row is written out, so that all of it may be loaded
  // before the first result is stored.
  std::vector<Ref<loops::Value>> named_values(const Running& running, const Surroundings& here,
                                              std::vector<Ref<Stmt>>& stmts) const {
    std::vector<Ref<loops::Value>> values = settle(running.scan.values, here);
    if (scans_.source.scope.axes.front().pieces.back().bind != loops::Bind::unroll) return values;
    for (Ref<loops::Value>& value : values) {
      const Temp temp = scans_.names.temp();
      stmts.push_back(loops::stmt(loops::Let{temp, value}));
      value = loops::read(temp);
    }
    return values;
  }

  void add_element(const Running& running, const Surroundings& here, std::vector<Ref<Stmt>>& stmts) const {
    const Temp in_chunk = scans_.names.temp();
    stmts.push_back(loops::stmt(start_like(running.start, in_chunk, {})));
    stmts.push_back(merge_total(in_chunk, running.before, running.start));
    stmts.push_back(merge_total(in_chunk, running.row, running.start));
    scans_.add_result(running, &Running::carry, in_chunk, here, stmts);
  }

  RunningScans scans_;
};

}  // namespace

Ref<Stmt> build_scan(const SiblingSource& source, const Surroundings& around, Names& names) {
  if (lane_scan_pieces(source.scope.axes.front())) return build_lane_scan(source, around, names);
  if (has_threads(source.scope)) return build_thread_scan(source, around, names);
  const bool side_by_side = source.scope.axes.front().pieces[1].bind == loops::Bind::vector;
  return side_by_side ? build_row_scan(source, around, names) : Scans(source, around, names).build();
}

}  // namespace twinloom::schedule
