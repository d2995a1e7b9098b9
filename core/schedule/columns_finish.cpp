// The second program of a nest with totals of columns: of each column the parts of a unit, which are combined
// by halves, then the units, as they are of any total.
//   for j { for u < units { for r { total += part[u, r, j] at 1024*u + r } };  what the nest does with its
//   columns }
// Where threads take several units side by side they hand them over in scratch:
//   for j.0 block {
//     for g { for w thread { for j.1 thread { .. unit 8*g + w; waiting[w, j.1] = unit } }; sync
//             for j.1 thread { for w { total += waiting[w, j.1] at 1024*(8*g + w) } }; sync }
//     for j.1 thread { what the nest does } }
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

namespace {

class Finish {
 public:
  Finish(const Plan& plan, const std::vector<ColumnTotal>& totals, const Surroundings& outside, Names& names)
      : plan_(plan),
        totals_(totals),
        outside_(outside),
        names_(names),
        width_(*index::constant_of(plan.shape.columns->loop.extent)),
        residues_(loops::LANES / plan.columns->lanes),
        units_(ceil_div(plan.common.axes.front().extent, loops::UNIT)),
        block_(names.symbol("columns")),
        thread_(names.symbol("column")) {}

  Ref<Stmt> build() {
    const Expr blocks = ceil_div(Expr(width_), plan_.columns->width);
    names_.facts().assume_below(block_, blocks);
    names_.facts().assume_below(thread_, plan_.columns->width);
    Ref<Stmt> body = plan_.columns->units > 1 ? by_threads() : columns(one_by_one());
    return loops::stmt(loops::Loop{block_, blocks, Bind::block, std::move(body)});
  }

 private:
  bool has_threads() const { return plan_.columns->width > 1 || plan_.columns->units > 1; }

  // Once for each column of the block.
  Ref<Stmt> columns(Ref<Stmt> body) const {
    if (!has_threads()) return body;
    return loops::stmt(loops::Loop{thread_, plan_.columns->width, Bind::thread, std::move(body)});
  }
  Surroundings column() const {
    Surroundings here = outside_;
    const Expr lane = has_threads() ? Expr(thread_) : Expr(0);
    const Expr at = Expr(block_) * plan_.columns->width + lane;
    here.axes.insert_or_assign(plan_.shape.columns->loop.axis, at);
    if (width_ % plan_.columns->width != 0)
      here.ends.insert_or_assign(plan_.shape.columns->loop.axis, index::Less{at, width_});
    return here;
  }
  index::Condition is_column() const { return ends_of_all(column()); }

  // Adds the parts of unit `number` from the place `first` on, where there is such a column. Those that lie
  // far apart are combined first, and written out: then the loads of all are on their way before the first is
  // needed.
  Ref<Stmt> unit(const ColumnTotal& total, Temp into, const Expr& number, const Expr& first,
                 const index::Condition& mask) {
    constexpr std::int64_t WRITTEN_OUT = 32;
    const std::int64_t apart = std::max<std::int64_t>(1, residues_ / WRITTEN_OUT);
    const index::Symbol near = names_.symbol("near"), far = names_.symbol("far");
    const Expr residue = Expr(near) + Expr(far) * apart;
    const Expr column_at = column().axes.at(plan_.shape.columns->loop.axis);
    const Expr place = (number * residues_ + residue) * width_ + column_at;
    const Ref<Stmt> step = loops::stmt(
        loops::Accumulate{into, {load_of(names_, total.parts, place, mask)}, first + residue, mask});
    return loops::stmt(loops::Loop{near, apart, Bind::serial,
                                   loops::stmt(loops::Loop{far, residues_ / apart, Bind::unroll, step})});
  }

  std::vector<Ref<Stmt>> starts(const std::vector<loops::Axis>& copies) const {
    std::vector<Ref<Stmt>> stmts;
    for (const ColumnTotal& total : totals_)
      stmts.push_back(loops::stmt(start_like(total.start, total.start.total, copies)));
    return stmts;
  }

  // What is done with the totals.
  Ref<Stmt> last() const {
    std::vector<Ref<Stmt>> stmts;
    for (const Ref<Stmt>& inner : plan_.shape.columns->inner) stmts.push_back(settle(inner, column()));
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> one_by_one() {
    const index::Symbol number = names_.symbol("unit");
    std::vector<Ref<Stmt>> body, stmts = starts({});
    for (const ColumnTotal& total : totals_)
      body.push_back(unit(total, total.start.total, number, Expr(number) * loops::UNIT, is_column()));
    stmts.push_back(loops::stmt(loops::Loop{number, units_, Bind::serial, loops::block(std::move(body))}));
    stmts.push_back(last());
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> by_threads() {
    const std::int64_t side_by_side = plan_.columns->units, width = plan_.columns->width;
    const index::Symbol group = names_.symbol("group"), member = names_.symbol("member");
    const index::Symbol next = names_.symbol("next");
    const Expr here = Expr(group) * side_by_side + Expr(member),
               there = Expr(group) * side_by_side + Expr(next);
    std::vector<Ref<Stmt>> fill, take;
    std::vector<loops::Buffer> arrays;
    for (const ColumnTotal& total : totals_) {
      const ops::DType dtype = names_.buffers()[total.parts.index].dtype;
      arrays.push_back(names_.buffer({"waiting", dtype, side_by_side * width, true, true}));
      const Temp one = names_.temp();
      fill.push_back(loops::stmt(start_like(total.start, one, {})));
      fill.push_back(unit(total, one, here, 0, is_column() && index::Condition{{{here, units_}}}));
      fill.push_back(loops::stmt(
          loops::Store{arrays.back(), Expr(member) * width + Expr(thread_), {}, loops::read(one)}));
      take.push_back(
          loops::stmt(loops::Accumulate{total.start.total,
                                        {load_of(names_, arrays.back(), Expr(next) * width + Expr(thread_))},
                                        there * loops::UNIT,
                                        {{{there, units_}}}}));
    }
    const Ref<Stmt> filled =
        loops::stmt(loops::Loop{member, side_by_side, Bind::thread, columns(loops::block(std::move(fill)))});
    const Ref<Stmt> taken =
        columns(loops::stmt(loops::Loop{next, side_by_side, Bind::serial, loops::block(std::move(take))}));
    const Ref<Stmt> sync = loops::stmt(loops::Sync{});
    std::vector<Ref<Stmt>> stmts = starts({thread_});
    stmts.push_back(loops::stmt(loops::Loop{group, ceil_div(units_, side_by_side), Bind::serial,
                                            loops::block({filled, sync, taken, sync})}));
    stmts.push_back(columns(last()));
    Ref<Stmt> result = loops::block(std::move(stmts));
    for (const loops::Buffer array : arrays)
      result =
          loops::stmt(loops::Scratch{array, side_by_side * width, loops::Place::scratch, std::move(result)});
    return result;
  }

  const Plan& plan_;
  const std::vector<ColumnTotal>& totals_;
  const Surroundings& outside_;
  Names& names_;
  std::int64_t width_, residues_;  // columns; parts of a unit
  Expr units_;
  index::Symbol block_, thread_;  // that walk columns
};

}  // namespace

Ref<Stmt> build_columns(const Plan& plan, const std::vector<ColumnTotal>& totals, const Surroundings& outside,
                        Names& names) {
  return Finish(plan, totals, outside, names).build();
}

}  // namespace twinloom::schedule
