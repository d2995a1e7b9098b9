// See reader.h. Each kind of node that has no memory is one function.
#include "core/lower/reader.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/graph/inside.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"

namespace twinloom::lower {

using namespace loops;
using graph::NodeId;
using ops::DType;

namespace {

index::Substitution bind_all(std::span<const index::Symbol> symbols, std::span<const index::Expr> values) {
  CHECK(symbols.size() == values.size(), symbols.size(), " symbols stand for ", values.size(), " values");
  index::Substitution substitution;
  for (std::size_t i = 0; i < symbols.size(); ++i) substitution.emplace(symbols[i], values[i]);
  return substitution;
}

index::Expr row_major(const graph::Shape& shape, const At& at) {
  const std::vector<index::Expr> strides = index::contiguous_strides(shape);
  index::Expr offset = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) offset = offset + at[d] * strides[d];
  return offset;
}

bool mentions_any(const index::Less& less, const std::set<index::Symbol>& symbols) {
  return std::ranges::any_of(symbols, [&](const index::Symbol& symbol) {
    return index::mentions(less.a, symbol) || index::mentions(less.b, symbol);
  });
}

}  // namespace

DType arithmetic_type(DType dtype) {
  return ops::kind(dtype) == ops::TypeKind::narrow_float ? DType::f32 : ops::compute_type(dtype);
}

Ref<loops::Value> widen(const Ref<loops::Value>& value, DType dtype) {
  const DType wide = arithmetic_type(dtype);
  if (wide == dtype) return value;
  if (const auto* number = std::get_if<Literal>(&value->node)) return literal(number->value, wide);
  return convert(wide, value);
}

Ref<loops::Value> narrow(const Ref<loops::Value>& value, DType dtype) {
  return arithmetic_type(dtype) == dtype ? value : convert(dtype, value);
}

Ref<loops::Value> truth(const index::Condition& condition) {
  if (condition.all.empty()) return literal(true, DType::b8);
  Ref<loops::Value> all;
  for (const index::Less& less : condition.all) {
    const Ref<loops::Value> one = apply(ops::Pointwise::lt, {count(less.a), count(less.b)});
    all = all == nullptr ? one : apply(ops::Pointwise::logical_and, {all, one});
  }
  return all;
}

Ref<loops::Value> select(const Ref<loops::Value>& condition, const Ref<loops::Value>& yes,
                         const Ref<loops::Value>& no, DType dtype) {
  // What is converted on both sides is converted once.
  const auto *a = std::get_if<Convert>(&yes->node), *b = std::get_if<Convert>(&no->node);
  if (a != nullptr && b != nullptr && a->to == dtype && b->to == dtype) {
    const auto from = type_of(*a->input);
    if (from && *from == arithmetic_type(*from) && from == type_of(*b->input))
      return convert(dtype, apply(ops::Pointwise::where, {condition, a->input, b->input}));
  }
  return narrow(apply(ops::Pointwise::where, {condition, widen(yes, dtype), widen(no, dtype)}), dtype);
}

std::size_t Reader::HashOfKey::operator()(const Key& key) const {
  std::uint64_t hash = key.node.index;
  for (const index::Expr& expr : key.at) hash = mix_hash(hash, expr.hash());
  for (const index::Less& less : key.mask.all) hash = mix_hash(mix_hash(hash, less.a.hash()), less.b.hash());
  return hash;
}

index::Expr Reader::tidy(const index::Expr& expr) const { return index::simplify(expr, facts_); }
index::Condition Reader::tidy(const index::Condition& mask) const { return index::simplify(mask, facts_); }

index::Expr Reader::offset(ValueId value, const At& at) const {
  const lower::Value& info = lowering_.lowered[value];
  CHECK(at.size() == info.strides.size(), info.name, " has ", info.strides.size(), " dimensions, not ",
        at.size());
  index::Expr offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) offset = offset + at[d] * info.strides[d];
  return tidy(offset);
}

Ref<loops::Value> Reader::load(ValueId value, const At& at, const index::Condition& mask) {
  const lower::Value& info = lowering_.lowered[value];
  const Literal nothing{ops::cast(0, info.dtype), info.dtype};
  // A load that no loop changes moves in front of the loops, where it must be safe although they have no
  // turns.
  index::Condition safe = mask;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (info.shape[d] == index::Expr(0)) return literal(nothing.value, nothing.dtype);
    if (index::constant_of(at[d]) && !facts_.proves_less(at[d], info.shape[d]))
      safe = safe && index::Condition{{{at[d], info.shape[d]}}};
  }
  loads_.push_back({Buffer{value.index}, offset(value, at), std::move(safe), nothing});
  return std::make_shared<const loops::Value>(loops::Value{loads_.back()});
}

index::Symbol Reader::find(Index index) {
  index.symbol = lowering_.names.symbol("found");
  facts_.assume_below(index.symbol, index.bound);
  const index::Symbol symbol = index.symbol;
  found_.insert(symbol);
  indexes_.push_back(stmt(std::move(index)));
  return symbol;
}

// What of the mask an element needs where there is one at `at` whatever the mask says: what leaves out many
// of those that would be read. What is the same for all elements of a row is then computed once for the row.
index::Condition Reader::needed(NodeId id, const At& at, const index::Condition& mask) const {
  if (mask.all.empty()) return mask;
  const graph::Shape& shape = lowering_.graph[id].shape;
  std::set<index::Symbol> symbols;
  for (std::size_t d = 0; d < at.size(); ++d) {
    if (!facts_.proves_less(-1, at[d]) || !facts_.proves_less(at[d], shape[d])) return mask;
    symbols.merge(index::symbols_of(at[d]));
  }
  index::Condition left;
  for (const index::Less& less : mask.all)
    if (mentions_any(less, symbols) && !is_nearly_always(less)) left.all.push_back(less);
  return left;
}

// But for few of all places: rows with some elements behind them.
bool Reader::is_nearly_always(const index::Less& less) const {
  constexpr std::int64_t FEW = 16;  // of so many one
  const auto end = index::constant_of(less.b);
  return end && *end > 0 && facts_.proves_less(less.a, *end + *end / FEW);
}

// What of the mask says whether a lookup of `value` is asked for. Along axes that the value does not change
// by it is asked for by somebody where element 0 is.
index::Condition Reader::asked(const loops::Value& value, const At& at, const index::Condition& mask) const {
  std::set<index::Symbol> other;
  for (const index::Expr& each : at)
    if (const auto axis = index::symbol_of(each); axis && !found_.contains(*axis)) other.insert(*axis);
  for (const index::Symbol& symbol : symbols_of(value)) other.erase(symbol);
  index::Substitution first;
  for (const index::Symbol& axis : other) first.emplace(axis, index::Expr(0));
  index::Condition left;
  for (const index::Less& less : mask.all) {
    if (!mentions_any(less, other))
      left.all.push_back(less);
    else if (!facts_.proves(index::substitute(index::Condition{{less}}, first)))
      return mask;
  }
  return left;
}

Ref<loops::Value> Reader::element(NodeId id, const At& at, const index::Condition& given) {
  const index::Condition mask = needed(id, at, given);
  const Key key{id, at, mask};
  if (const auto found = known_.find(key); found != known_.end()) return found->second;
  const auto memory = lowering_.memory[id.index];
  const Ref<loops::Value> value = memory ? load(*memory, at, mask) : definition(id, at, mask);
  known_.emplace(key, value);
  return value;
}

Ref<loops::Value> Reader::definition(NodeId id, const At& at, const index::Condition& mask) {
  const Place place{id, at, mask};
  computed_.push_back(id);
  const auto has_memory = [&]() -> Ref<loops::Value> {
    CHECK(false, "node ", id.index, " is computed by a nest of its own");
    return nullptr;
  };
  return match(
      lowering_.graph[id], [&](const graph::Input&) { return load(*lowering_.memory[id.index], at, mask); },
      [&](const graph::Constant& constant) {
        if (std::holds_alternative<graph::Content>(constant.value))
          return load(*lowering_.memory[id.index], at, mask);
        return literal(ops::cast(std::get<ops::Number>(constant.value), constant.dtype), constant.dtype);
      },
      [&](const graph::Size& size) {
        return size.dtype == DType::i64 ? count(size.value) : convert(size.dtype, count(size.value));
      },
      [&](const graph::Iota& iota) {
        const Ref<loops::Value> number = count(at[static_cast<std::size_t>(iota.axis)]);
        return iota.dtype == DType::i64 ? number : convert(iota.dtype, number);
      },
      [&](const graph::Pointwise& pointwise) { return compute(pointwise, place); },
      [&](const graph::Cast& cast) { return compute(cast, place); },
      [&](const graph::View& view) { return compute(view, place); },
      [&](const graph::Concat& concat) { return compute(concat, place); },
      [&](const graph::Random& random) { return compute(random, place); },
      [&](const graph::Gather& gather) { return compute(gather, place); },
      [&](const graph::Scatter&) { return has_memory(); },
      [&](const graph::Realize&) { return element(lowering_.graph[id].inputs[0], at, mask); },
      [&](const graph::Reduce&) { return has_memory(); }, [&](const graph::Scan&) { return has_memory(); },
      [&](const graph::Sort&) { return has_memory(); });
}

Ref<loops::Value> Reader::compute(const graph::Pointwise& pointwise, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  std::vector<Ref<loops::Value>> inputs;
  for (const NodeId input : node.inputs)
    inputs.push_back(widen(element(input, place.at, place.mask), lowering_.graph[input].dtype));
  return narrow(apply(ops::computed_for(pointwise.op, node.dtype), std::move(inputs)), node.dtype);
}

Ref<loops::Value> Reader::compute(const graph::Cast& cast, const Place& place) {
  const NodeId input = lowering_.graph[place.id].inputs[0];
  const DType from = lowering_.graph[input].dtype;
  const Ref<loops::Value> value = element(input, place.at, place.mask);
  if (from == cast.to) return value;
  const Ref<loops::Value> wide = widen(value, from);
  return arithmetic_type(from) == cast.to ? wide : convert(cast.to, wide);
}

// A Load with this mask, converted or not, that gives the number outside of it; nothing of anything else.
Ref<loops::Value> with_fill(const loops::Value& value, const index::Condition& mask,
                            const ops::Number& fill) {
  if (const auto* load = std::get_if<Load>(&value.node)) {
    if (load->mask != mask) return nullptr;
    return loops::load(load->buffer, load->offset, mask, {fill, load->otherwise.dtype});
  }
  const auto* convert = std::get_if<Convert>(&value.node);
  const auto from = convert == nullptr ? std::nullopt : type_of(*convert->input);
  if (!from || ops::cast(ops::cast(fill, *from), *from, convert->to) != fill) return nullptr;
  const auto input = with_fill(*convert->input, mask, ops::cast(fill, *from));
  return input == nullptr ? nullptr : loops::convert(convert->to, input);
}

// Where only a Load lies beneath, the fill is what the Load gives outside its mask; else a select.
Ref<loops::Value> Reader::compute(const graph::View& view, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  const index::Substitution here = bind_all(view.axes, place.at);
  const index::Condition inside = tidy(index::substitute(view.inside, here));
  const Ref<loops::Value> fill = literal(ops::cast(view.fill, node.dtype), node.dtype);
  if (index::never_holds(inside)) return fill;
  At source;
  for (const index::Expr& expr : view.source) source.push_back(tidy(index::substitute(expr, here)));
  if (inside.all.empty()) return element(node.inputs[0], source, place.mask);
  const index::Condition mask = place.mask && inside;
  const Ref<loops::Value> value = element(node.inputs[0], source, mask);
  if (const auto filled = with_fill(*value, mask, std::get<Literal>(fill->node).value)) return filled;
  return select(truth(inside), value, fill, node.dtype);
}

// Parts from the last to the first; a part that cannot be met is left out.
Ref<loops::Value> Reader::compute(const graph::Concat& concat, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  const auto axis = static_cast<std::size_t>(concat.axis);
  index::Expr end = node.shape[axis];
  Ref<loops::Value> result;
  for (std::size_t k = node.inputs.size(); k-- > 0;) {
    const index::Expr start = tidy(end - lowering_.graph[node.inputs[k]].shape[axis]);
    const index::Condition from = tidy(index::Condition{{{start - 1, place.at[axis]}}});
    const index::Condition to = tidy(index::Condition{{{place.at[axis], end}}});
    end = start;
    if (index::never_holds(from && to)) continue;
    At at = place.at;
    at[axis] = tidy(at[axis] - start);
    const Ref<loops::Value> part = element(node.inputs[k], at, place.mask && from && to);
    result = result == nullptr ? part : select(truth(to), part, result, node.dtype);
  }
  return result == nullptr ? literal(ops::cast(0, node.dtype), node.dtype) : result;
}

ops::Pointwise drawn_by(const graph::Random& random) {
  const bool precise = random.dtype == DType::f64;
  switch (random.kind) {
    case graph::Distribution::uniform:
      return precise ? ops::Pointwise::random_uniform_f64 : ops::Pointwise::random_uniform;
    case graph::Distribution::normal:
      return ops::Pointwise::random_normal;
    case graph::Distribution::integers:
      return ops::Pointwise::random_integers;
  }
  throw Bug("a distribution without an operator");
}

Ref<loops::Value> Reader::compute(const graph::Random& random, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  const auto number = [](const ops::Number& value) {
    return literal(ops::cast(value, DType::i64), DType::i64);
  };
  std::vector<Ref<loops::Value>> inputs = {count(tidy(row_major(node.shape, place.at))),
                                           count(index::Symbol("seed")), count(index::Symbol("offset")),
                                           number(random.number)};
  const ops::Pointwise op = drawn_by(random);
  if (op == ops::Pointwise::random_integers) {
    inputs.push_back(number(random.low));
    inputs.push_back(number(random.high));
  }
  const std::vector<DType> i64s(inputs.size(), DType::i64);
  const DType drawn = *ops::result_type(op, i64s);
  const Ref<loops::Value> value = apply(op, std::move(inputs));
  return drawn == random.dtype ? value : convert(random.dtype, value);
}

// Inputs first, first + 1, ... are indices.
std::vector<index::Symbol> Reader::find_all(const graph::Shape& bounds, bool negative_wraps,
                                            std::size_t first, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  std::vector<index::Symbol> found;
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    Index index;
    index.value = element(node.inputs[first + k], place.at, place.mask);
    index.bound = bounds[k];
    index.mask = asked(*index.value, place.at, place.mask);
    index.negative_wraps = negative_wraps;
    index.node = static_cast<int>(place.id.index);
    found.push_back(find(std::move(index)));
  }
  return found;
}

Ref<loops::Value> Reader::compute(const graph::Gather& gather, const Place& place) {
  const graph::Node& node = lowering_.graph[place.id];
  index::Substitution here = bind_all(gather.axes, place.at);
  const std::vector<index::Symbol> found = find_all(gather.bounds, gather.negative_wraps, 1, place);
  for (std::size_t k = 0; k < found.size(); ++k) here.emplace(gather.found[k], index::Expr(found[k]));
  At source;
  for (const index::Expr& expr : gather.source) source.push_back(tidy(index::substitute(expr, here)));
  return element(node.inputs[0], source, place.mask);
}

}  // namespace twinloom::lower
