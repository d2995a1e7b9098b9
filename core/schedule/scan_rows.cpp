// Scans whose rows fill a vector. A chunk is walked twice: down the rows side by side, which gives p, and
// along each row, where its results are. p and o lie in arrays in between.
//   start carry
//   for k.0 { start row copies k.1
//             for k.2 { for k.1 vector { merge row (x); p[32*k.2 + k.1] = row } }
//             prefix o, all = row across k.1
//             for k.1 vector { o[k.1] = o }
//             for row { for place vector { result = carry with (o[row] with p[32*place + row]) } }
//             merge carry (all) }
// An exclusive scan stores p before it merges. Of a split scan (split_scan.cpp) there is a carry for each
// turn of k.0, and where only totals are wanted neither p nor o nor results.
#include "core/loops/canonical.h"
#include "core/schedule/scans.h"

namespace twinloom::schedule {

namespace {

class RowScans {
 public:
  RowScans(const SiblingSource& source, const Surroundings& around, Names& names)
      : scans_{source, around, names, {}}, results_(source.scope) {
    scans_.add_scans(
        {&Running::row, &Running::before, &Running::all, &Running::carry},
        {{&Running::values, "rows", loops::SCAN_CHUNK}, {&Running::rows, "before", loops::SCAN_ROWS}});
    // The second walk: the same pieces under names of their own, the rows one after the other.
    std::vector<Piece>& pieces = results_.axes.front().pieces;
    for (std::size_t piece : {1u, 2u}) pieces[piece].symbol = names.symbol(pieces[piece].symbol.name());
    pieces[1].bind = loops::Bind::serial;
    pieces[2].bind = loops::Bind::vector;
    results_.order = {{0, 0}, {0, 1}, {0, 2}};
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) { return down_the_rows(here); };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == 1)
        return scans_.only_totals() ? total(state, std::move(loops)) : chunk(state, std::move(loops));
      return at == 0 && !scans_.in_parts() ? scans_.start_all(&Running::carry, {}, std::move(loops)) : loops;
    };
    return Walk(scans_.source.scope, scans_.around, scans_.names).run(innermost, wrap);
  }

 private:
  const index::Symbol& row_axis() const { return scans_.source.scope.axes.front().pieces[1].symbol; }
  index::Expr column() const { return scans_.source.scope.axes.front().pieces[2].symbol; }

  // What the values of the scans need, and p.
  Ref<Stmt> down_the_rows(const Surroundings& here) const {
    const index::Expr at = index::substitute(column(), here.fixed) * loops::SCAN_ROWS + row_axis();
    return scans_.names.freshen(loops::block(
        without_unread(scans_.inside(here, false, [&](const Running& running, std::vector<Ref<Stmt>>& stmts) {
          scans_.add_to_row(running, settle(running.scan.values, here), ends_of(here, scans_.source.scope),
                            at, stmts);
        }))));
  }

  Ref<Stmt> total(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> stmts = {scans_.start_all(&Running::row, {row_axis()}, std::move(loops))};
    scans_.add_prefixes(row_axis(), stmts);
    for (const Running& running : scans_.all)
      stmts.push_back(scans_.source.parts->store(
          running.scan, running.all, scans_.first_of_chunk(scans_.source.scope, state), scans_.around));
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> chunk(const State& state, Ref<Stmt> loops) {
    std::vector<Ref<Stmt>> stmts = {scans_.start_all(&Running::row, {row_axis()}, std::move(loops))};
    std::vector<Ref<Stmt>> before;
    scans_.add_prefixes(row_axis(), stmts);
    for (const Running& running : scans_.all) store_all(running.rows, row_axis(), {}, running.before, before);
    stmts.push_back(loops::stmt(
        loops::Loop{row_axis(), loops::SCAN_ROWS, loops::Bind::vector, loops::block(std::move(before))}));
    const auto innermost = [&](const Surroundings& here) { return along_a_row(here); };
    if (scans_.in_parts())
      scans_.add_carries(&Running::carry, scans_.first_of_chunk(scans_.source.scope, state), stmts);
    stmts.push_back(Walk(results_, scans_.around, scans_.names).run_from(1, state, innermost, {}));
    if (!scans_.in_parts())
      for (const Running& running : scans_.all)
        stmts.push_back(merge_total(running.carry, running.all, running.start));
    return scans_.in_arrays(loops::Place::registers, loops::block(std::move(stmts)));
  }

  Ref<Stmt> along_a_row(const Surroundings& here) const {
    const std::vector<Piece>& pieces = results_.axes.front().pieces;
    const index::Expr row = index::substitute(pieces[1].symbol, here.fixed);
    const index::Expr value = index::Expr(pieces[2].symbol) * loops::SCAN_ROWS + row;
    return loops::block(
        without_unread(scans_.inside(here, true, [&](const Running& running, std::vector<Ref<Stmt>>& stmts) {
          scans_.add_result(running, &Running::carry, row, value, here, stmts);
        })));
  }

  RunningScans scans_;
  Scope results_;
};

}  // namespace

std::vector<Ref<Stmt>> without_unread(std::vector<Ref<Stmt>> stmts) {
  std::set<Temp> read;
  std::vector<Ref<Stmt>> kept;
  for (auto stmt = stmts.rbegin(); stmt != stmts.rend(); ++stmt) {
    const auto* let = std::get_if<loops::Let>(&(*stmt)->node);
    if (let != nullptr && !read.contains(let->temp)) continue;
    loops::for_each_value(**stmt, [&](const loops::Value& value) {
      if (const auto* of = std::get_if<loops::Read>(&value.node)) read.insert(of->temp);
    });
    kept.insert(kept.begin(), std::move(*stmt));
  }
  return kept;
}

Ref<Stmt> build_row_scan(const SiblingSource& source, const Surroundings& around, Names& names) {
  return RowScans(source, around, names).build();
}

// Temps follow their definitions, so one pass forwards finds all that depend on a result. An Index is taken
// for dependent on every result before it.
bool scans_stand_alone(const loops::Sibling& sibling) {
  std::set<Temp> results;
  bool alone = true;
  for (const Ref<Stmt>& inner : sibling.inner) {
    bool depends = false;
    loops::for_each_value(*inner, [&](const loops::Value& value) {
      const auto* read = std::get_if<loops::Read>(&value.node);
      depends |= read != nullptr && results.contains(read->temp);
    });
    if (const auto* let = std::get_if<loops::Let>(&inner->node); let != nullptr && depends)
      results.insert(let->temp);
    if (std::holds_alternative<loops::Index>(inner->node)) alone &= results.empty();
    const auto* scan = std::get_if<loops::Scan>(&inner->node);
    if (scan == nullptr) continue;
    alone &= !depends;
    results.insert(scan->result);
  }
  return alone;
}

}  // namespace twinloom::schedule
