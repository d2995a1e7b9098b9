// Rows that several siblings read are kept at hand:
//   for k { m += x[i*n + k] }; for k1 { y[..] = x[i*n + k1] - m }
//   ->  scratch x_row[n]: for k { t = x[i*n + k]; x_row[k] = t; m += t }; for k1 { y[..] = x_row[k1] - m }
// What a later sibling alone reads is loaded by the first one, so that no thread waits for it after the
// totals:
//   for k { m += x[i*n + k] }; for k1 { y[..] = w[k1] * m }
//   ->  scratch w_row[n]: for k { w_row[k] = w[k]; m += x[i*n + k] }; for k1 { y[..] = w_row[k1] * m }
// Rows that all turns of a task read are kept at hand for the task:
//   for i { for k { y[..] = x[i*n + k] * w[k] } }
//   ->  scratch w_row[n]: for k { w_row[k] = w[k] }; for i { for k { y[..] = x[i*n + k] * w_row[k] } }
// 16-bit floats are kept as the f32 that is computed with, so nothing is converted twice; in scratch, where
// room is scarce, as they are unless the schedule says `widened`.
#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/schedule/accesses.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

namespace {

// Who loads a row of the buffer as the first of them does: siblings of one loop, or, in a nest without any,
// the common statements along one of their axes. `offset` mentions `place` for the axis.
struct Readers {
  std::vector<std::size_t> siblings;
  std::optional<std::size_t> common_axis;
  std::optional<loops::Load> load;  // of the first
  index::Symbol place{"staged.place"};
  index::Expr offset, extent;
};

Readers common_readers(const loops::Nest& shape, loops::Buffer buffer) {
  Readers readers;
  readers.load = only_unmasked_load(own_stmts(shape), buffer);
  if (!readers.load) return readers;
  for (std::size_t axis = 0; axis < shape.common.size(); ++axis) {
    const loops::NestLoop& loop = shape.common[axis];
    if (!index::mentions(readers.load->offset, loop.axis)) continue;
    if (readers.common_axis) return {};
    readers.common_axis = axis;
    readers.extent = loop.extent;
    readers.offset = index::substitute(readers.load->offset, {{loop.axis, index::Expr(readers.place)}});
  }
  return readers;
}

// Whether the first sibling, which does not load the row, may do so for the only one that does: it walks as
// many elements, and no place is looked up behind it.
bool may_fill_ahead(const loops::Nest& shape, const Readers& readers) {
  if (readers.siblings.size() != 1 || readers.siblings.front() == 0) return false;
  const std::vector<loops::NestLoop>& first = siblings_of(shape).front()->loops;
  if (first.size() != 1 || first.front().extent != readers.extent) return false;
  const auto finds = [&](const Ref<Stmt>& stmt) {
    const auto* found = std::get_if<loops::Index>(&stmt->node);
    return found != nullptr && index::mentions(readers.offset, found->symbol);
  };
  bool is_behind = false;
  for (const loops::Item& item : shape.items) {
    const auto* sibling = std::get_if<loops::Sibling>(&item);
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    is_behind |= sibling != nullptr;
    if (sibling != nullptr && std::ranges::any_of(sibling->inner, finds)) return false;
    if (stmt != nullptr && is_behind && finds(*stmt)) return false;
  }
  return true;
}

Readers readers_of(const loops::Nest& shape, loops::Buffer buffer) {
  const auto siblings = siblings_of(shape);
  if (siblings.empty()) return common_readers(shape, buffer);
  Readers readers;
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const loops::Sibling& sibling = *siblings[number];
    const auto load = only_unmasked_load(sibling.inner, buffer);
    if (!load || sibling.loops.size() != 1) continue;
    const loops::NestLoop& loop = sibling.loops.front();
    const index::Expr here = index::substitute(load->offset, {{loop.axis, index::Expr(readers.place)}});
    if (!index::mentions(here, readers.place)) continue;
    if (readers.siblings.empty()) {
      readers.load = load;
      readers.offset = here;
      readers.extent = loop.extent;
    }
    if (readers.offset == here && readers.extent == loop.extent) readers.siblings.push_back(number);
  }
  return readers;
}

// What becomes of a load of the row where the array stands for it.
class Stager {
 public:
  Stager(const loops::Load& load, loops::Buffer array, ops::DType dtype)
      : load_(load), array_(array), dtype_(dtype) {}

  // t = the load at `offset`; array[at] = t. Or, where 16 bits stay such, array[at] = the load.
  std::vector<Ref<Stmt>> store(const index::Expr& offset, const index::Symbol& at, Temp temp) const {
    const auto loaded = loops::load(load_.buffer, offset, load_.mask, load_.otherwise);
    const auto put = [&](Ref<loops::Value> value) {
      return loops::stmt(loops::Store{array_, at, {}, std::move(value), loops::Update::replace});
    };
    if (is_raw()) return {put(loaded)};
    return {loops::stmt(loops::Let{temp, loops::convert(dtype_, loaded)}), put(loops::read(temp))};
  }
  bool is_raw() const { return ops::is_16_bit_float(dtype_); }
  const loops::Load& load() const { return load_; }
  Ref<loops::Value> kept(const index::Symbol& at) const {
    return loops::load(array_, at, {}, {ops::cast(ops::Number(0), dtype_), dtype_});
  }
  // Puts `value` in place of the load's conversion to the type that is kept. What uses the load as it is,
  // such as a copy, gets it converted back, which is exact.
  Ref<Stmt> replace(const Ref<Stmt>& stmt, const Ref<loops::Value>& value) const {
    const ops::DType loaded = load_.otherwise.dtype;
    const Ref<loops::Value> unchanged = loaded == dtype_ ? value : loops::convert(loaded, value);
    return loops::rewrite_values(stmt, [&](const Ref<loops::Value>& old) -> Ref<loops::Value> {
      const auto* load = std::get_if<loops::Load>(&old->node);
      if (load != nullptr && load->buffer == load_.buffer) return unchanged;
      const auto* convert = std::get_if<loops::Convert>(&old->node);
      return convert != nullptr && convert->to == dtype_ && convert->input == unchanged ? value : old;
    });
  }

 private:
  const loops::Load& load_;
  loops::Buffer array_;
  ops::DType dtype_;
};

// Why the row is not the same in all turns of a task, or why there is nothing to gain.
std::string why_not_of_task(const Plan& plan, const Readers& readers, const Staged& staged) {
  const std::size_t start = start_of_task(plan.common);
  if (start == plan.common.order.size()) return "a task is one turn";
  if (readers.common_axis && plan.common.order.back().axis != *readers.common_axis)
    return "the innermost loop does not walk the row";
  index::Facts facts = plan.facts;
  facts.assume_below(readers.place, staged.count);
  const auto range = facts.range(readers.offset);
  const auto held = index::constant_of(plan.nest.buffers[staged.buffer.index].count);
  for (const index::Symbol& symbol : index::symbols_of(readers.offset))
    if (symbol != readers.place) return cat("the row depends on ", symbol);
  // It is filled also where a task has no turns.
  const bool inside = held && range.low && range.high && *range.low >= 0 && *range.high < *held;
  return inside ? "" : "the row is not known to be inside the buffer";
}

std::string why_not_of_turn(const Plan& plan, const Staged& staged, const std::string& piece) {
  if (in_lockstep(plan.common)) return "rows in lock-step have no arrays of their own";
  const bool innermost =
      !plan.common.order.empty() && plan.common.piece(plan.common.order.back()).symbol.name() == piece;
  if (!innermost)
    return cat(piece, " is not the innermost common loop, in whose turns the row stays the same");
  return staged.siblings.size() < 2 ? "no two siblings load it at the same places" : "";
}

// The loop that fills a row, as wide as the vectors that read it.
Scope fill_scope(const AxisPlan& reader, const index::Symbol& at, const Staged& staged) {
  std::int64_t lanes = 1;
  for (const Piece& piece : reader.pieces) {
    if (piece.bind == loops::Bind::vector)
      lanes = piece.turns != 0 ? piece.turns : next_power_of_two(staged.count);
  }
  AxisPlan axis{at, staged.count, staged.count, lanes > 1 ? Tail::mask : Tail::exact, {}, -1};
  axis.pieces.push_back({index::Symbol(cat(at, ".0")), lanes, 0, loops::Bind::serial});
  Scope scope{{}, {{0, 0}}, Reach::none};
  if (lanes > 1) {
    axis.pieces.push_back({index::Symbol(cat(at, ".1")), 1, lanes, loops::Bind::vector});
    scope.order.push_back({0, 1});
  }
  scope.axes.push_back(std::move(axis));
  return scope;
}

}  // namespace

std::size_t start_of_task(const Scope& common) {
  std::size_t start = 0;
  for (std::size_t at = 0; at < common.order.size(); ++at)
    if (common.piece(common.order[at]).bind == loops::Bind::block) start = at + 1;
  return start;
}

std::variant<Staged, std::string> stage(const Plan& plan, const TempPlan& temp) {
  const std::string words = cat("stage ", temp.buffer, ": ");
  const auto buffer = loops::buffer_named(plan.nest, temp.buffer);
  if (!buffer) return words + "there is no such buffer";
  Staged staged;
  staged.buffer = *buffer;
  if (plan.nest.buffers[staged.buffer.index].written) return words + "the nest writes it";
  staged.place = temp.place;
  const bool narrow = ops::is_16_bit_float(plan.nest.buffers[staged.buffer.index].dtype);
  staged.widened = narrow && (temp.place == loops::Place::registers || temp.widened);
  if (has_threads(plan.common) && temp.place == loops::Place::scratch && temp.inside == TASK)
    return plan.grid ? std::variant<Staged, std::string>(words + "a grid split has no tiles")
                     : stage_block_tile(plan, temp, *buffer);
  const bool threads = std::ranges::any_of(plan.siblings, has_threads);
  if (temp.place != loops::Place::registers && (!threads || temp.place != loops::Place::scratch))
    return words + "only registers hold a row of one thread, or scratch where a block has threads";
  if (temp.pad != 0) return words + "a row needs no padding";
  if (temp.widened && (!narrow || temp.place != loops::Place::scratch))
    return words + "only rows of 16-bit floats in scratch are widened";
  if (plan.grid) return words + "the siblings of a grid split are in different programs";
  if (plan.scan_split) return words + "the parts of a split scan have no rows";
  if (siblings_of(plan.shape).empty() && temp.inside != TASK) return stage_tile(plan, temp, *buffer);
  const Readers readers = readers_of(plan.shape, staged.buffer);
  if (readers.siblings.empty() && !readers.common_axis) return words + "no loop walks a row of it";
  const auto count = most_of(plan.facts, readers.extent);
  if (!count || *count < 1)
    return words + "the size of a row is not a constant above 0, and has no such bound";
  staged.count = *count;
  staged.of_task = temp.inside == TASK;
  staged.siblings = readers.siblings;
  staged.ahead = !staged.of_task && threads && temp.place == loops::Place::registers &&
                 may_fill_ahead(plan.shape, readers);
  if (staged.ahead) staged.siblings.insert(staged.siblings.begin(), 0);
  std::string reason =
      staged.of_task ? why_not_of_task(plan, readers, staged) : why_not_of_turn(plan, staged, temp.inside);
  if (reason.empty() && staged.of_task && (threads || has_threads(plan.common)))
    reason = "each thread would fill it";
  if (reason.empty() && threads) reason = why_not_by_threads(plan, staged.siblings);
  if (!reason.empty()) return words + reason;
  return staged;
}

namespace {

class RowStager {
 public:
  RowStager(const Plan& plan, Names& names) : plan_(plan), names_(names), result_{plan.shape, {}, {}, {}} {}

  StagedNest run() {
    for (const Staged& staged : plan_.staged) {
      if (staged.of_task && staged.place == loops::Place::scratch)
        result_.of_task.push_back(put_block_tile(plan_, staged, names_, result_.shape));
      else if (staged.lanes != 0)
        result_.tiles.push_back(put_tile(plan_, staged, names_, result_.shape));
      else
        stage(staged);
    }
    return std::move(result_);
  }

 private:
  void stage(const Staged& staged) {
    const loops::BufferInfo& info = plan_.nest.buffers[staged.buffer.index];
    const ops::DType dtype = staged.widened ? ops::compute_type(info.dtype) : info.dtype;
    const loops::Buffer array = names_.buffer({info.name + "_row", dtype, staged.count, true, true});
    const Readers readers = readers_of(plan_.shape, staged.buffer);
    const Stager stager(*readers.load, array, dtype);
    loops::Scratch scratch{array, staged.count, staged.place, nullptr};
    if (staged.of_task) scratch.body = fill(staged, readers, stager);
    if (readers.common_axis)
      read_in_common(stager, plan_.shape.common[*readers.common_axis].axis);
    else
      read_in_siblings(staged, readers, stager);
    (staged.of_task ? result_.of_task : result_.arrays).push_back(std::move(scratch));
  }

  void read_in_common(const Stager& stager, const index::Symbol& axis) {
    for (loops::Item& item : result_.shape.items)
      item = stager.replace(std::get<Ref<Stmt>>(item), stager.kept(axis));
  }

  void read_in_siblings(const Staged& staged, const Readers& readers, const Stager& stager) {
    std::size_t number = 0;
    for (loops::Item& item : result_.shape.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      if (std::ranges::find(staged.siblings, number) != staged.siblings.end()) {
        const bool first = number == staged.siblings.front() && !staged.of_task;
        if (first && staged.ahead)
          fill_ahead(*sibling, readers, stager);
        else
          read(*sibling, first, stager);
      }
      ++number;
    }
  }

  void fill_ahead(loops::Sibling& sibling, const Readers& readers, const Stager& stager) {
    const index::Symbol& at = sibling.loops.front().axis;
    const index::Expr offset = index::substitute(readers.offset, {{readers.place, index::Expr(at)}});
    const auto filled = stager.store(offset, at, names_.temp());
    sibling.inner.insert(sibling.inner.begin(), filled.begin(), filled.end());
  }

  // The first reader of a row fills the array with what it loads.
  void read(loops::Sibling& sibling, bool first, const Stager& stager) {
    const index::Symbol& at = sibling.loops.front().axis;
    std::vector<Ref<Stmt>> inner;
    Ref<loops::Value> value = stager.kept(at);
    if (first) {
      const Temp temp = names_.temp();
      inner = stager.store(stager.load().offset, at, temp);
      value = loops::read(temp);
    }
    const bool unchanged = first && stager.is_raw();
    for (const Ref<Stmt>& stmt : sibling.inner)
      inner.push_back(unchanged ? stmt : stager.replace(stmt, value));
    sibling.inner = std::move(inner);
  }

  Ref<Stmt> fill(const Staged& staged, const Readers& readers, const Stager& stager) {
    const index::Symbol at = names_.symbol(cat(plan_.nest.buffers[staged.buffer.index].name, "_at"));
    const index::Expr offset = index::substitute(readers.offset, {{readers.place, index::Expr(at)}});
    const loops::Sibling filled{{{at, staged.count}}, stager.store(offset, at, names_.temp())};
    const AxisPlan& reader = readers.common_axis ? plan_.common.axes[*readers.common_axis]
                                                 : plan_.siblings[readers.siblings.front()].axes.front();
    const Scope scope = fill_scope(reader, at, staged);
    return build_loops({plan_, scope, filled, {}}, {}, names_);
  }

  const Plan& plan_;
  Names& names_;
  StagedNest result_;
};

}  // namespace

StagedNest stage_rows(const Plan& plan, Names& names) { return RowStager(plan, names).run(); }

}  // namespace twinloom::schedule
