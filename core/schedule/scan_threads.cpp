// Scans by the threads of a block. Each warp has a chunk, several chunks lie side by side, and values pass
// through scratch, so that memory is read and written along the rows while each thread runs down a row of its
// own:
//   start carry
//   for k.0 {
//     for k.1 thread { for k.2 { for k.3 thread { v[k.1, k.2, k.3] = x } } }; sync
//     start row copies k.1, k.2
//     for k.1 thread { for k.2 thread { for k.3 { merge row (v[..]); v[..] = row } } }      p
//     prefix before, all = row across k.2                                                     o
//     for k.1 thread { for k.2 thread { o[k.1, k.2] = before }; total[k.1] = all }; sync
//     for k.1 thread { chunk = carry with total[0], .., total[k.1 - 1]
//                      for k.2 { for k.3 thread { result = chunk with (o[..] with v[..]) } } }
//     merge carry (total[0]), .., (total[last]); sync }
// An exclusive scan stores p before it merges. Without k.1 there is one warp. Of a split scan
// (split_scan.cpp) each chunk has its carry from memory; where only totals are wanted neither p nor o nor
// results are. Rows of at most one chunk have as many threads k.2 as rows of 32 and no carry, and a block may
// have several of them, by thread loops of the common axes. Where the last piece is a vector, threads move so
// many neighbours at once along the rows, and those that one row of 32 then leaves idle walk the next ones.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/scans.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

namespace {

constexpr std::int64_t PITCH = loops::SCAN_ROWS + 1;  // of a row in scratch: rows then lie in other banks

class ThreadScans {
 public:
  ThreadScans(const SiblingSource& source, const Surroundings& around, Names& names)
      : scans_{source, around, names, {}}, block_(block_rows(source.plan.common)) {
    const AxisPlan& axis = source.scope.axes.front();
    pieces_ = *thread_scan_pieces(axis);
    if (pieces_.side_by_side) chunk_ = axis.pieces[1].symbol;
    chunks_ = chunk_ ? axis.pieces[1].turns : 1;
    count_ = next_power_of_two(*turns_of(axis, axis.pieces[pieces_.row]));
    rows_ = with_row({{axis.pieces[row()].symbol, loops::SCAN_ROW, count_, Bind::thread},
                      {axis.pieces[row() + 1].symbol, 1, loops::SCAN_ROW, Bind::serial}});
    lines_ = with_row(along_lines());
    const std::int64_t chunks = block_.count * chunks_;
    std::vector<RunningScans::Array> arrays = {{&Running::values, "values", chunks * count_ * PITCH}};
    if (!scans_.only_totals()) arrays.push_back({&Running::rows, "rows", chunks * count_});
    if (!scans_.only_totals() && has_carry()) arrays.push_back({&Running::totals, "totals", chunks});
    scans_.add_scans({&Running::row, &Running::before, &Running::all, &Running::carry, &Running::chunk},
                     arrays);
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) { return down_a_row(here); };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == first())
        loops = scans_.only_totals() ? totals(state, std::move(loops)) : group(state, std::move(loops));
      if (at != 0) return loops;
      return scans_.in_arrays(loops::Place::scratch,
                              has_carry() ? scans_.start_all(&Running::carry, {}, std::move(loops)) : loops);
    };
    return Walk(rows_, scans_.around, scans_.names).run(innermost, wrap);
  }

 private:
  std::size_t row() const { return pieces_.row; }
  // Position of what a group of chunks walks.
  std::size_t first() const { return pieces_.is_one_chunk() ? 0 : 1; }
  bool has_carry() const { return !scans_.in_parts() && !pieces_.is_one_chunk(); }

  // The sibling's scope with these pieces for a row, walked in their order.
  Scope with_row(const std::vector<Piece>& pieces) const {
    Scope scope = scans_.source.scope;
    AxisPlan& axis = scope.axes.front();
    axis.pieces.resize(row());
    axis.pieces.insert(axis.pieces.end(), pieces.begin(), pieces.end());
    if (pieces_.is_one_chunk()) axis.pieces.front().turns = 0;
    scope.order.clear();
    for (std::size_t piece = 0; piece < axis.pieces.size(); ++piece) scope.order.push_back({0, piece});
    return scope;
  }
  // Rows one after the other, or as many at once as there are threads for.
  std::vector<Piece> along_lines() {
    const AxisPlan& axis = scans_.source.scope.axes.front();
    const std::string name(axis.pieces[row()].symbol.name()), within(axis.pieces[row() + 1].symbol.name());
    const std::int64_t across = loops::SCAN_ROW / pieces_.packed;
    const std::int64_t beside = std::max<std::int64_t>(1, count_ / across);
    std::vector<Piece> pieces = {
        {scans_.names.symbol(name), loops::SCAN_ROW * beside, count_ / beside, Bind::serial}};
    if (beside > 1) pieces.push_back({scans_.names.symbol(name), loops::SCAN_ROW, beside, Bind::thread});
    pieces.push_back({scans_.names.symbol(within), pieces_.packed, across, Bind::thread});
    if (pieces_.packed > 1) pieces.push_back({scans_.names.symbol(within), 1, pieces_.packed, Bind::vector});
    return pieces;
  }

  // The number of a chunk among all of the block, that of the first with this row of the nest, and the places
  // of a walk's element, and of its row, in the arrays.
  Expr first_chunk() const { return block_.number * chunks_; }
  Expr chunk() const { return chunk_ ? first_chunk() + Expr(*chunk_) : first_chunk(); }
  Expr place(const Scope& scope) const {
    Expr within;
    for (const Piece& piece : scope.axes.front().pieces)
      if (piece.step < loops::SCAN_ROW) within = within + Expr(piece.symbol) * piece.step;
    return row_place(scope) * PITCH + within;
  }
  Expr row_place(const Scope& scope) const {
    Expr place = chunk() * count_;
    const std::vector<Piece>& pieces = scope.axes.front().pieces;
    for (std::size_t piece = row(); piece < pieces.size(); ++piece)
      if (pieces[piece].step >= loops::SCAN_ROW)
        place = place + Expr(pieces[piece].symbol) * (pieces[piece].step / loops::SCAN_ROW);
    return place;
  }
  const index::Symbol& row_axis() const { return rows_.axes.front().pieces[row()].symbol; }

  Ref<Stmt> by_rows(std::vector<Ref<Stmt>> stmts) const {
    return loops::stmt(loops::Loop{row_axis(), count_, Bind::thread, loops::block(std::move(stmts))});
  }
  // The statements for each chunk, by threads where there are several.
  Ref<Stmt> in_chunks(Ref<Stmt> stmt) const {
    return chunk_ ? loops::stmt(loops::Loop{*chunk_, chunks_, Bind::thread, std::move(stmt)}) : stmt;
  }

  // What is scanned, as memory holds it.
  Ref<Stmt> along_values(const Surroundings& here) const {
    return scans_.store_values(here, index::substitute(place(lines_), here.fixed));
  }

  // p in place of what is scanned.
  Ref<Stmt> down_a_row(const Surroundings& here) const {
    return scans_.add_values_to_row(ends_of(here, rows_), index::substitute(place(rows_), here.fixed));
  }

  // From what memory holds to o and the chunks' totals, which stay in registers.
  std::vector<Ref<Stmt>> prefixes(const State& state, Ref<Stmt> down_the_rows) {
    const auto values = [&](const Surroundings& here) { return along_values(here); };
    std::vector<loops::Axis> copies;
    if (chunk_) copies.push_back(*chunk_);
    copies.push_back(row_axis());
    std::vector<Ref<Stmt>> stmts = {
        Walk(lines_, scans_.around, scans_.names).run_from(first(), state, values, {}),
        loops::stmt(loops::Sync{}), scans_.start_all(&Running::row, copies, std::move(down_the_rows))};
    scans_.add_prefixes(row_axis(), stmts);
    return stmts;
  }

  // Stored by the first thread of a chunk.
  Ref<Stmt> totals(const State& state, Ref<Stmt> down_the_rows) {
    const index::Condition first{{{row_axis(), 1}}};
    std::vector<Ref<Stmt>> stmts = prefixes(state, std::move(down_the_rows)), stores;
    for (const Running& running : scans_.all)
      stores.push_back(scans_.source.parts->store(running.scan, running.all,
                                                  scans_.first_of_chunk(rows_, state), scans_.around, first));
    stmts.push_back(in_chunks(by_rows(std::move(stores))));
    stmts.push_back(loops::stmt(loops::Sync{}));
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> group(const State& state, Ref<Stmt> down_the_rows) {
    const auto results = [&](const Surroundings& here) { return along_results(here); };
    const auto carried = [&](std::size_t at, const State&, Ref<Stmt> loops) {
      return at == row() ? carry_into_chunk(state, std::move(loops)) : loops;
    };
    const Ref<Stmt> sync = loops::stmt(loops::Sync{});
    std::vector<Ref<Stmt>> stmts = prefixes(state, std::move(down_the_rows));
    stmts.push_back(keep_rows());
    stmts.push_back(sync);
    stmts.push_back(Walk(lines_, scans_.around, scans_.names).run_from(first(), state, results, carried));
    for (const Running& running : scans_.all)
      for (std::int64_t at = 0; at < chunks_ && has_carry(); ++at)
        stmts.push_back(scans_.merge_arrays(running.carry, running.totals, first_chunk() + at));
    if (!pieces_.is_one_chunk()) stmts.push_back(sync);
    return loops::block(std::move(stmts));
  }

  // o and, where the next chunks need them, the totals of these.
  Ref<Stmt> keep_rows() const {
    std::vector<Ref<Stmt>> before, stmts;
    for (const Running& running : scans_.all)
      store_all(running.rows, row_place(rows_), {}, running.before, before);
    stmts.push_back(by_rows(std::move(before)));
    for (const Running& running : scans_.all)
      if (has_carry()) store_all(running.totals, chunk(), {}, running.all, stmts);
    return in_chunks(loops::block(std::move(stmts)));
  }

  Ref<Stmt> carry_into_chunk(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> stmts;
    if (scans_.in_parts()) scans_.add_carries(&Running::chunk, scans_.first_of_chunk(rows_, state), stmts);
    for (const Running& running : scans_.all) {
      if (scans_.in_parts()) break;
      stmts.push_back(loops::stmt(start_like(running.start, running.chunk, {})));
      if (!has_carry()) continue;
      stmts.push_back(merge_total(running.chunk, running.carry, running.start));
      for (std::int64_t at = 0; at + 1 < chunks_; ++at)
        stmts.push_back(scans_.merge_arrays(running.chunk, running.totals, first_chunk() + at,
                                            index::Condition{{{at, Expr(*chunk_)}}}));
    }
    stmts.push_back(std::move(loops));
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> along_results(const Surroundings& here) const {
    const Expr row = index::substitute(row_place(lines_), here.fixed),
               value = index::substitute(place(lines_), here.fixed);
    return scans_.names.freshen(loops::block(
        without_unread(scans_.inside(here, true, [&](const Running& running, std::vector<Ref<Stmt>>& stmts) {
          scans_.add_result(running, &Running::chunk, row, value, here, stmts);
        }))));
  }

  RunningScans scans_;
  Scope rows_;   // a thread walks each row
  Scope lines_;  // threads walk each row together
  ThreadScanPieces pieces_;
  BlockRows block_;  // rows of the nest that a block scans
  std::optional<index::Symbol> chunk_;
  std::int64_t chunks_ = 1;  // side by side
  std::int64_t count_ = 1;   // rows of a chunk
};

}  // namespace

Ref<Stmt> build_thread_scan(const SiblingSource& source, const Surroundings& around, Names& names) {
  return ThreadScans(source, around, names).build();
}

}  // namespace twinloom::schedule
