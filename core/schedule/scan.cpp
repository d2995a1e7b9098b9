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
#include "core/schedule/build.h"

namespace twinloom::schedule {

namespace {

struct Running {
  loops::Scan scan;
  loops::Start start;
  Temp row, rows, carry;  // p, o and carry
};

class Scans {
 public:
  Scans(const SiblingSource& source, const Surroundings& around, Names& names)
      : source_(source), around_(around), walk_(source.scope, around, names), names_(names) {
    for (const Ref<Stmt>& inner : source.sibling.inner) {
      const auto* scan = std::get_if<loops::Scan>(&inner->node);
      if (scan == nullptr) continue;
      scans_.push_back({*scan, source.starts.at(scan->total), names.temp(), names.temp(), names.temp()});
    }
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) { return inside(here); };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == 2) return enclose(std::move(loops), &Running::row, &Running::rows);
      if (at == 1 && source_.parts != nullptr) return chunk_of_part(std::move(loops), state);
      if (at == 1) return enclose(std::move(loops), &Running::rows, &Running::carry);
      return at == 0 && source_.parts == nullptr ? enclose(std::move(loops), &Running::carry, nullptr)
                                                 : loops;
    };
    return walk_.run(innermost, wrap);
  }

 private:
  // Starts a total before the loops and merges it afterwards into the one outside.
  Ref<Stmt> enclose(Ref<Stmt> loops, Temp Running::*total, Temp Running::*outside) const {
    std::vector<Ref<Stmt>> stmts;
    for (const Running& running : scans_) {
      stmts.push_back(loops::stmt(start_like(running.start, running.*total, {})));
    }
    stmts.push_back(std::move(loops));
    for (const Running& running : scans_) {
      if (outside != nullptr) stmts.push_back(merge_total(running.*outside, running.*total, running.start));
    }
    return loops::block(std::move(stmts));
  }

  // Its total, or its results from the carry that memory holds.
  Ref<Stmt> chunk_of_part(Ref<Stmt> loops, const State& state) const {
    const index::Expr first = source_.first_of_chunk(walk_, state);
    const ScanParts& parts = *source_.parts;
    std::vector<Ref<Stmt>> carries, totals;
    for (const Running& running : scans_) {
      if (parts.only_totals())
        totals.push_back(parts.store(running.scan, running.rows, first, around_));
      else
        carries.push_back(parts.start_from_carry(running.scan, running.carry, first, around_));
    }
    return loops::block({loops::block(std::move(carries)), enclose(std::move(loops), &Running::rows, nullptr),
                         loops::block(std::move(totals))});
  }

  Ref<Stmt> inside(const Surroundings& here) const {
    const bool only_totals = source_.only_totals();
    std::vector<Ref<Stmt>> stmts;
    auto running = scans_.begin();
    for (const Ref<Stmt>& inner : source_.sibling.inner) {
      if (std::holds_alternative<loops::Scan>(inner->node)) {
        const auto values = named_values(*running, here, stmts);
        if (only_totals)
          stmts.push_back(merge_element(*running++, values, here));
        else
          add_element(*running++, values, here, stmts);
      } else if (!only_totals || !std::holds_alternative<loops::Store>(inner->node)) {
        stmts.push_back(settle(inner, here));
      }
    }
    return loops::block(only_totals ? without_unread(std::move(stmts)) : std::move(stmts));
  }
  // What is scanned; under names of their own where a row is written out, so that all of it may be loaded
  // before the first result is stored.
  std::vector<Ref<loops::Value>> named_values(const Running& running, const Surroundings& here,
                                              std::vector<Ref<Stmt>>& stmts) const {
    std::vector<Ref<loops::Value>> values = settle(running.scan.values, here);
    if (source_.scope.axes.front().pieces.back().bind != loops::Bind::unroll) return values;
    for (Ref<loops::Value>& value : values) {
      const Temp temp = names_.temp();
      stmts.push_back(loops::stmt(loops::Let{temp, value}));
      value = loops::read(temp);
    }
    return values;
  }
  Ref<Stmt> merge_element(const Running& running, const std::vector<Ref<loops::Value>>& values,
                          const Surroundings& here) const {
    return loops::stmt(loops::Merge{running.row, values, ends_of(here, source_.scope)});
  }

  void add_element(const Running& running, const std::vector<Ref<loops::Value>>& values,
                   const Surroundings& here, std::vector<Ref<Stmt>>& stmts) const {
    const loops::Start& start = running.start;
    const Ref<Stmt> merge = merge_element(running, values, here);
    if (!running.scan.exclusive) stmts.push_back(merge);
    const Temp in_chunk = names_.temp();
    stmts.push_back(loops::stmt(start_like(start, in_chunk, {})));
    stmts.push_back(merge_total(in_chunk, running.rows, start));
    stmts.push_back(merge_total(in_chunk, running.row, start));
    add_scan_result(running.scan, start, running.carry, in_chunk, here, stmts);
    if (running.scan.exclusive) stmts.push_back(merge);
  }

  const SiblingSource& source_;
  const Surroundings& around_;
  Walk walk_;
  Names& names_;
  std::vector<Running> scans_;
};

}  // namespace

void add_scan_result(const loops::Scan& scan, const loops::Start& start, Temp carry, Temp in_chunk,
                     const Surroundings& here, std::vector<Ref<Stmt>>& stmts) {
  stmts.push_back(loops::stmt(start_like(start, scan.result, {})));
  stmts.push_back(merge_total(scan.result, carry, start));
  stmts.push_back(merge_total(scan.result, in_chunk, start));
  const auto nothing = ops::over_nothing(start.monoid, start.element);
  if (!scan.exclusive || !nothing || *nothing == ops::identity(start.monoid, start.element)[0]) return;
  const index::Expr place = index::substitute(scan.place, here.axes);
  stmts.push_back(loops::stmt(
      loops::Merge{scan.result, {loops::literal(*nothing, start.element)}, index::Condition{{{place, 1}}}}));
}

Ref<Stmt> build_scan(const SiblingSource& source, const Surroundings& around, Names& names) {
  if (has_threads(source.scope)) return build_thread_scan(source, around, names);
  const bool side_by_side = source.scope.axes.front().pieces[1].bind == loops::Bind::vector;
  return side_by_side ? build_row_scan(source, around, names) : Scans(source, around, names).build();
}

}  // namespace twinloom::schedule
