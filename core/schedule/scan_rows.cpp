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
#include "core/schedule/build.h"

namespace twinloom::schedule {

namespace {

struct Running {
  loops::Scan scan;
  loops::Start start;
  Temp row, before, all, carry;
  std::vector<loops::Buffer> p, o;  // one a part of the tuple
};

class RowScans {
 public:
  RowScans(const SiblingSource& source, const Surroundings& around, Names& names)
      : source_(source), around_(around), names_(names), results_(source.scope) {
    for (const Ref<Stmt>& inner : source.sibling.inner) {
      const auto* scan = std::get_if<loops::Scan>(&inner->node);
      if (scan == nullptr) continue;
      const loops::Start& start = source.starts.at(scan->total);
      Running running{*scan, start, names.temp(), names.temp(), names.temp(), names.temp(), {}, {}};
      for (int part = 0; part < ops::parts(start.monoid); ++part) {
        running.p.push_back(array_of(start, part, "rows", loops::SCAN_CHUNK));
        running.o.push_back(array_of(start, part, "before", loops::SCAN_ROWS));
      }
      scans_.push_back(std::move(running));
    }
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
        return source_.only_totals() ? total(state, std::move(loops)) : chunk(state, std::move(loops));
      return at == 0 && source_.parts == nullptr ? start_all(&Running::carry, {}, std::move(loops)) : loops;
    };
    return Walk(source_.scope, around_, names_).run(innermost, wrap);
  }

 private:
  const index::Symbol& row_axis() const { return source_.scope.axes.front().pieces[1].symbol; }
  index::Expr first_of_chunk(const State& state) const {
    return source_.first_of_chunk(Walk(source_.scope, around_, names_), state);
  }

  loops::Buffer array_of(const loops::Start& start, int part, std::string_view name, std::int64_t count) {
    return names_.buffer(
        {std::string(name), ops::part_type(start.monoid, start.element, part), count, true, true});
  }

  Ref<Stmt> start_all(Temp Running::*total, const std::vector<loops::Axis>& copies, Ref<Stmt> rest) const {
    std::vector<Ref<Stmt>> stmts;
    for (const Running& running : scans_)
      stmts.push_back(loops::stmt(start_like(running.start, running.*total, copies)));
    stmts.push_back(std::move(rest));
    return loops::block(std::move(stmts));
  }

  // What the values of the scans need, and p.
  Ref<Stmt> down_the_rows(const Surroundings& here) const {
    std::vector<Ref<Stmt>> stmts;
    auto running = scans_.begin();
    for (const Ref<Stmt>& inner : source_.sibling.inner) {
      if (std::holds_alternative<loops::Scan>(inner->node)) {
        const Running& scan = *running++;
        const Ref<Stmt> merge =
            loops::stmt(loops::Merge{scan.row, settle(scan.scan.values, here), ends_of(here, source_.scope)});
        if (!scan.scan.exclusive || source_.only_totals()) stmts.push_back(merge);
        if (source_.only_totals()) continue;
        store_all(scan.p, index::substitute(column(), here.fixed) * loops::SCAN_ROWS + row_axis(), {},
                  scan.row, stmts);
        if (scan.scan.exclusive) stmts.push_back(merge);
      } else if (!std::holds_alternative<loops::Store>(inner->node)) {
        stmts.push_back(settle(inner, here));
      }
    }
    return names_.freshen(loops::block(without_unread(std::move(stmts))));
  }
  index::Expr column() const { return source_.scope.axes.front().pieces[2].symbol; }

  Ref<Stmt> total(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> stmts = {start_all(&Running::row, {row_axis()}, std::move(loops))};
    for (const Running& running : scans_) {
      stmts.push_back(loops::stmt(loops::Prefix{running.before, running.all, running.row, row_axis()}));
      stmts.push_back(source_.parts->store(running.scan, running.all, first_of_chunk(state), around_));
    }
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> chunk(const State& state, Ref<Stmt> loops) {
    std::vector<Ref<Stmt>> stmts = {start_all(&Running::row, {row_axis()}, std::move(loops))};
    std::vector<Ref<Stmt>> before;
    for (const Running& running : scans_) {
      stmts.push_back(loops::stmt(loops::Prefix{running.before, running.all, running.row, row_axis()}));
      store_all(running.o, row_axis(), {}, running.before, before);
    }
    stmts.push_back(loops::stmt(
        loops::Loop{row_axis(), loops::SCAN_ROWS, loops::Bind::vector, loops::block(std::move(before))}));
    const auto innermost = [&](const Surroundings& here) { return along_a_row(here); };
    if (source_.parts != nullptr)
      for (const Running& running : scans_)
        stmts.push_back(
            source_.parts->start_from_carry(running.scan, running.carry, first_of_chunk(state), around_));
    stmts.push_back(Walk(results_, around_, names_).run_from(1, state, innermost, {}));
    if (source_.parts == nullptr)
      for (const Running& running : scans_)
        stmts.push_back(merge_total(running.carry, running.all, running.start));
    return in_arrays(loops::block(std::move(stmts)));
  }

  Ref<Stmt> along_a_row(const Surroundings& here) {
    std::vector<Ref<Stmt>> stmts;
    auto running = scans_.begin();
    for (const Ref<Stmt>& inner : source_.sibling.inner) {
      if (std::holds_alternative<loops::Scan>(inner->node))
        add_result(*running++, here, stmts);
      else
        stmts.push_back(settle(inner, here));
    }
    return loops::block(without_unread(std::move(stmts)));
  }

  void add_result(const Running& running, const Surroundings& here, std::vector<Ref<Stmt>>& stmts) {
    const std::vector<Piece>& pieces = results_.axes.front().pieces;
    const index::Expr row = index::substitute(pieces[1].symbol, here.fixed);
    const Temp in_chunk = names_.temp();
    stmts.push_back(loops::stmt(start_like(running.start, in_chunk, {})));
    stmts.push_back(merge_arrays(in_chunk, running.o, row));
    stmts.push_back(
        merge_arrays(in_chunk, running.p, index::Expr(pieces[2].symbol) * loops::SCAN_ROWS + row));
    add_scan_result(running.scan, running.start, running.carry, in_chunk, here, stmts);
  }

  Ref<Stmt> merge_arrays(Temp into, const Buffers& arrays, const index::Expr& at) const {
    return loops::stmt(loops::Merge{into, load_all(names_, arrays, at), {}});
  }

  Ref<Stmt> in_arrays(Ref<Stmt> stmt) const {
    for (const Running& running : scans_) {
      for (const auto* arrays : {&running.p, &running.o}) {
        for (const loops::Buffer array : *arrays) {
          const index::Expr count = names_.buffers()[array.index].count;
          stmt = loops::stmt(loops::Scratch{array, count, loops::Place::registers, std::move(stmt)});
        }
      }
    }
    return stmt;
  }

  const SiblingSource& source_;
  const Surroundings& around_;
  Names& names_;
  Scope results_;
  std::vector<Running> scans_;
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
