// A Sort: a radix sort, whose passes are the stable sorts by keys that devices have, small ones or of 32
// bits. A pass sorts by one digit of the keys what the last one left, from the lowest digit on.
//   sorted0 = stable sort of the elements by digit 0 of their keys
//   order   = stable sort of the positions p by digit 1 of the key of element sorted0[p]
//   for p { sorted1[p] = sorted0[order[p]] } ...
//   for each row, for r < n { y[row, r] = sorted1[order[row*n + r]] - row*n }
// Elements are numbered row by row, so that the axis is the last one whichever it is. Where keys may be long,
// a device gives offsets in rows in place of these numbers.
#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/lower/families.h"
#include "core/lower/scatter_plan.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// Of keys of so many bits, in rows of n elements.
int digit_bits(const index::Expr& rows, const index::Expr& n, int bits) {
  // The first position of each digit in each row takes a walk and memory of its own, so that digits are few
  // where rows are short, or many and of a length that nobody knows.
  constexpr std::int64_t LONG = 4096, SINGLE = 1024, SHORT = 128;
  const auto size = index::constant_of(n);
  const bool is_long = rows == index::Expr(1) ? !size || *size >= SINGLE : size && *size >= LONG;
  const int most = is_long ? 11 : size && *size < SHORT ? 7 : 8;
  const int passes = (bits + most - 1) / most;
  return (bits + passes - 1) / passes;
}

class RadixSort {
 public:
  RadixSort(Lowering& lowering, graph::NodeId id)
      : lowering_(lowering), id_(id), node_(lowering.graph[id]), sort_(std::get<graph::Sort>(node_.node)) {
    const auto axis = static_cast<std::size_t>(sort_.axis);
    for (std::size_t d = 0; d < node_.shape.size(); ++d) {
      if (d == axis) continue;
      numbered_.push_back(d);
      rows_ = rows_ * node_.shape[d];
    }
    numbered_.push_back(axis);
    n_ = node_.shape[axis];
    constexpr int LONG_KEY = 32;  // bits, at most
    width_ = has_offsets() ? std::min(sort_.bits, LONG_KEY) : digit_bits(rows_, n_, sort_.bits);
  }

  std::vector<Draft> run(ValueId into) {
    std::vector<Draft> drafts;
    if (rows_ * n_ == index::Expr(0)) return {nothing(into)};
    if (is_order(into)) {
      drafts.push_back(pass(std::nullopt, into, 0));
      return drafts;
    }
    std::optional<ValueId> sorted;
    for (int done = 0; done < sort_.bits; done += width_) {
      const ValueId order = elements();
      drafts.push_back(pass(sorted, order, done));
      if (done + width_ >= sort_.bits) {
        drafts.push_back(offsets(sorted, order, into));
      } else if (sorted) {
        const ValueId next = elements();
        drafts.push_back(moved(*sorted, order, next));
        sorted = next;
      } else {
        sorted = order;
      }
    }
    return drafts;
  }

 private:
  bool has_offsets() const { return lowering_.routines.long_keys; }  // in place of numbers

  // Whether the order that one pass finds is the result.
  bool is_order(ValueId into) const {
    return has_offsets() && sort_.bits <= width_ &&
           static_cast<std::size_t>(sort_.axis) + 1 == node_.shape.size() &&
           lowering_.lowered[into].strides == index::contiguous_strides(node_.shape);
  }

  // An array with the number of an element for each.
  ValueId elements() {
    return add_value(lowering_, Storage::temporary, id_, {rows_ * n_}, ops::DType::i64, {1});
  }

  // The digit of the key at `at`, whose lowest bit is bit `done` of what keys differ in. Digits count up from
  // the least key.
  Ref<loops::Value> digit(Reader& reader, const At& at, int done) {
    const auto number = [](std::int64_t value) { return literal(value, ops::DType::i64); };
    const int bits = std::min(width_, sort_.bits - done);
    const auto least = static_cast<std::int64_t>(std::uint64_t{1} << (sort_.low + sort_.bits - 1));
    const Ref<loops::Value> above =
        apply(ops::Pointwise::add, {reader.element(node_.inputs[0], at), number(least)});
    const Ref<loops::Value> lowest = apply(ops::Pointwise::shift_right, {above, number(sort_.low + done)});
    return apply(ops::Pointwise::bitwise_and, {lowest, number((std::int64_t{1} << bits) - 1)});
  }

  Draft pass(std::optional<ValueId> sorted, ValueId order, int done) {
    Reader reader(lowering_);
    const index::Expr bound = std::int64_t{1} << std::min(width_, sort_.bits - done);
    std::optional<ValueId> starts;
    if (!has_offsets())
      starts = add_value(lowering_, Storage::temporary, id_, {rows_ * bound + 1}, ops::DType::i64, {1});
    const Axis position = lowering_.names.symbol("a");
    assume_axis(reader.facts(), position, rows_ * n_);
    At at(node_.shape.size(), index::Expr(0));
    unflatten(sorted ? number_at(reader, *sorted, position) : position, node_.shape, numbered_, at);
    for (index::Expr& each : at) each = index::simplify(each, reader.facts());
    const Temp key = lowering_.names.temp();
    const Ref<loops::Value> value = digit(reader, at, done);
    std::vector<Ref<Stmt>> body = reader.take_indexes();
    body.push_back(stmt(Let{key, value}));
    std::vector<index::Expr> sizes = {n_, bound};
    if (numbered_.size() > 1) sizes.push_back(rows_);
    return sort_by_key({order, starts, std::move(sizes), position, key, std::move(body)}, reader, id_);
  }

  // The number that element `at` of the array says.
  index::Expr number_at(Reader& reader, ValueId array, const index::Expr& at) {
    Index index;
    index.value = reader.load(array, {at});
    index.bound = has_offsets() ? n_ : rows_ * n_;
    const index::Expr found = reader.find(std::move(index));
    return has_offsets() ? index::floor_div(at, n_) * n_ + found : found;
  }

  Draft moved(ValueId sorted, ValueId order, ValueId into) {
    Reader reader(lowering_);
    Walk walk = walk_over(lowering_, reader, {rows_ * n_});
    const Ref<loops::Value> value = reader.load(sorted, {number_at(reader, order, walk.at[0])});
    return stored(reader, std::move(walk), into, value);
  }

  Draft offsets(std::optional<ValueId> sorted, ValueId order, ValueId into) {
    Reader reader(lowering_);
    Walk walk = walk_over(lowering_, reader, node_.shape);
    const index::Expr number = index::simplify(flatten(walk.at, node_.shape, numbered_), reader.facts());
    const index::Expr first = index::simplify(number - walk.at[numbered_.back()], reader.facts());
    const Ref<loops::Value> element =
        sorted ? reader.load(*sorted, {number_at(reader, order, number)}) : reader.load(order, {number});
    if (has_offsets()) return stored(reader, std::move(walk), into, element);
    return stored(reader, std::move(walk), into, apply(ops::Pointwise::sub, {element, count(first)}));
  }

  // Nests need no numbers of elements that are not there, which would be divided by 0.
  Draft nothing(ValueId into) {
    Reader reader(lowering_);
    return stored(reader, walk_over(lowering_, reader, node_.shape), into, literal(0, ops::DType::i64));
  }

  Draft stored(Reader& reader, Walk walk, ValueId into, const Ref<loops::Value>& value) {
    Draft draft;
    draft.nest.common = std::move(walk.loops);
    for (Ref<Stmt>& index : reader.take_indexes()) draft.nest.items.emplace_back(std::move(index));
    draft.nest.items.emplace_back(stmt(Store{Buffer{into.index}, reader.offset(into, walk.at), {}, value}));
    draft.nodes.push_back(id_);
    return draft;
  }

  Lowering& lowering_;
  graph::NodeId id_;
  const graph::Node& node_;
  const graph::Sort& sort_;
  std::vector<std::size_t> numbered_;  // dimensions from the outermost to the one that is sorted along
  index::Expr rows_ = 1, n_;
  int width_;  // of a digit, in bits
};

}  // namespace

std::vector<Draft> lower_sort(Lowering& lowering, graph::NodeId id, ValueId into) {
  return RadixSort(lowering, id).run(into);
}

}  // namespace twinloom::lower
