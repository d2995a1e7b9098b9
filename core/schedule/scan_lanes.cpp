// Scans in free order by the threads of a block: each has some neighbours of a row in registers, and what
// stands before them it gets from the other threads.
//   start carry
//   for k.0 {
//     for k.1 thread { for k.2 vector { v[k.2] = x } }
//     start row copies k.1
//     for k.1 thread { for k.2 { merge row (v[k.2]); v[k.2] = row } }                    p
//     prefix before, all = row across k.1
//     for k.1 thread { for k.2 vector { result = carry with (before with v[k.2]) } }
//     merge carry (all) }
// An exclusive scan stores p before it merges. Without k.0 the carry stays empty.
#include "core/schedule/scans.h"

namespace twinloom::schedule {

namespace {

class LaneScans {
 public:
  LaneScans(const SiblingSource& source, const Surroundings& around, Names& names)
      : scans_{source, around, names, {}}, elements_(source.scope), pieces_(*lane_scan_pieces(axis())) {
    scans_.add_scans({&Running::row, &Running::before, &Running::all, &Running::carry},
                     {{&Running::values, "values", pieces_.packed}});
    // What is scanned one after the other is walked under a name of its own.
    if (pieces_.packed == 1) return;
    Piece& piece = elements_.axes.front().pieces.back();
    piece.symbol = names.symbol(piece.symbol.name());
    piece.bind = Bind::unroll;
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) { return run_of_a_thread(here); };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == pieces_.threads) loops = group(state, std::move(loops));
      if (at != 0) return loops;
      return scans_.in_arrays(loops::Place::registers,
                              scans_.start_all(&Running::carry, {}, std::move(loops)));
    };
    return Walk(elements_, scans_.around, scans_.names).run(innermost, wrap);
  }

 private:
  using Bind = loops::Bind;

  const AxisPlan& axis() const { return scans_.source.scope.axes.front(); }
  const index::Symbol& thread() const { return axis().pieces[pieces_.threads].symbol; }
  bool has_chunks() const { return pieces_.threads > 0; }
  // Position in the arrays of a thread.
  index::Expr place(const Scope& scope, const Surroundings& here) const {
    if (pieces_.packed == 1) return 0;
    return index::substitute(scope.axes.front().pieces.back().symbol, here.fixed);
  }

  Ref<Stmt> along_values(const Surroundings& here) const {
    return scans_.store_values(here, place(scans_.source.scope, here));
  }
  Ref<Stmt> run_of_a_thread(const Surroundings& here) const {
    return scans_.add_values_to_row(ends_of(here, elements_), place(elements_, here));
  }

  Ref<Stmt> along_results(const Surroundings& here) const {
    const index::Expr at = place(scans_.source.scope, here);
    return scans_.names.freshen(loops::block(
        without_unread(scans_.inside(here, true, [&](const Running& running, std::vector<Ref<Stmt>>& stmts) {
          const Temp in_chunk = scans_.names.temp();
          stmts.push_back(loops::stmt(start_like(running.start, in_chunk, {})));
          stmts.push_back(merge_total(in_chunk, running.before, running.start));
          stmts.push_back(scans_.merge_arrays(in_chunk, running.values, at));
          scans_.add_result(running, &Running::carry, in_chunk, here, stmts);
        }))));
  }

  Ref<Stmt> group(const State& state, Ref<Stmt> runs) const {
    const auto walk = [&](const Walk::Innermost& innermost) {
      return Walk(scans_.source.scope, scans_.around, scans_.names)
          .run_from(pieces_.threads, state, innermost, {});
    };
    std::vector<Ref<Stmt>> stmts = {walk([&](const Surroundings& here) { return along_values(here); })};
    for (const Running& running : scans_.all) {
      loops::Start start = start_like(running.start, running.row, {thread()});
      start.free = true;
      stmts.push_back(loops::stmt(std::move(start)));
    }
    stmts.push_back(std::move(runs));
    scans_.add_prefixes(thread(), stmts);
    stmts.push_back(walk([&](const Surroundings& here) { return along_results(here); }));
    for (const Running& running : scans_.all)
      if (has_chunks()) stmts.push_back(merge_total(running.carry, running.all, running.start));
    return loops::block(std::move(stmts));
  }

  RunningScans scans_;
  Scope elements_;  // as a thread scans its own
  LaneScanPieces pieces_;
};

}  // namespace

Ref<Stmt> build_lane_scan(const SiblingSource& source, const Surroundings& around, Names& names) {
  return LaneScans(source, around, names).build();
}

}  // namespace twinloom::schedule
