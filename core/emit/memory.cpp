// Loads, stores and run-time indices: the part of Values that touches memory. A lane outside a mask
// touches none.
#include <algorithm>

#include "core/base/error.h"
#include "core/emit/values.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

namespace {

constexpr int MOST_PACKED = 16;  // lanes that load_packed() takes

std::set<index::Symbol> mentioned(const index::Expr& offset) { return index::symbols_of(offset); }

std::string_view prefix_of(loops::Update update) {
  switch (update) {
    case loops::Update::replace:
      return "";
    case loops::Update::atomic_add:
      return "atomic_add_";
    case loops::Update::atomic_max:
      return "atomic_max_";
  }
  return "";
}

std::string element_at(const std::string& pointer) {
  return pointer.find(' ') == std::string::npos ? cat("*", pointer) : cat("*(", pointer, ")");
}

}  // namespace

const loops::BufferInfo& Values::info(loops::Buffer buffer) const {
  CHECK(buffer.index < program_.buffers.size(), "no buffer ", buffer.index);
  return program_.buffers[buffer.index];
}

const Base& Values::buffer(loops::Buffer buffer) const {
  const auto found = buffers_.find(buffer);
  CHECK(found != buffers_.end(), "buffer ", info(buffer).name, " is used outside its scratch");
  return found->second;
}

std::string Values::pointer(loops::Buffer buffer, const index::Expr& offset) {
  return indices_.pointer(this->buffer(buffer), offset);
}

bool Values::mentions_sizes(const index::Expr& offset) const {
  return std::ranges::any_of(program_.sizes, [&](const loops::SizeInfo& size) {
    return index::mentions(indices_.here(offset), size.symbol);
  });
}

// Which of the functions for neighbours: the ending of its name.
std::string_view Values::way_of(loops::Buffer buffer, const index::Expr& offset) const {
  if (is_own(buffer)) return "";
  const bool is_multiple = indices_.is_multiple(offset, indices_.lanes());
  if (info(buffer).local && dialect_.has_threads()) {
    constexpr int WORD_BYTES = 4;
    // Of elements that share a word several are worth a test, where their distance is not known to be odd.
    const bool apart = ops::size_of(info(buffer).dtype) >= WORD_BYTES || !mentions_sizes(offset);
    return is_multiple ? "_scratch" : apart ? "_apart" : "";
  }
  if (!is_multiple || info(buffer).local) return "";
  return dialect_.assumes_packed() && indices_.lanes() <= MOST_PACKED ? "_packed" : "";
}

// As an element of memory, which for b8 is a byte.
std::string Values::memory_literal(const loops::Literal& literal) const {
  const std::string text = dialect_.literal(ops::cast(literal.value, literal.dtype), literal.dtype);
  return dialect_.stored(literal.dtype, text);
}

Operand Values::load(const loops::Load& load) {
  const Along run = indices_.along(load.offset);
  const Mask mask = indices_.mask(load.mask, mentioned(load.offset));
  if (run.kind == Along::Kind::uniform) return uniform_load(load, mask);
  const ops::DType dtype = info(load.buffer).dtype;
  const int level = level_of(load, run, mask), lanes = indices_.lanes();
  const Origin origin{.buffer = load.buffer, .total = {}};
  const std::string text = lanes_load(load, run, mask);
  if (is_filled(load.buffer, run, mask)) {
    const bool is_byte = dtype == ops::DType::b8;
    const Operand held =
        named_at(level, {text, is_byte ? ops::DType::u8 : dtype, lanes, Written::filled}, origin);
    return is_byte ? named_at(level, {dialect_.loaded(dtype, held.text), dtype, lanes}, origin) : held;
  }
  const Written written = is_walked(load.buffer, run, mask) ? Written::a_lane : Written::whole;
  return named_at(level, {dialect_.loaded(dtype, text), dtype, lanes, written}, origin);
}

// Neighbours, of which all are accessed or none, where lanes are apart.
bool Values::are_together(const Along& run, const Mask& mask) const {
  return vectors_.apart(indices_.lanes()) && run.kind == Along::Kind::linear &&
         index::constant_of(run.stride) == 1 &&
         (mask.kind == Mask::Kind::always || mask.kind == Mask::Kind::uniform);
}

// Whether a function takes a variable for each lane.
bool Values::is_filled(loops::Buffer buffer, const Along& run, const Mask& mask) const {
  return are_together(run, mask) && way_of(buffer, run.rest) == "_packed";
}

// Whether the neighbours are elements of an array in registers, which no function needs to be given.
bool Values::is_walked(loops::Buffer buffer, const Along& run, const Mask& mask) const {
  return is_own(buffer) && are_together(run, mask);
}

// Elements of an array in registers from the known first of neighbours on, where it has fewer than lanes: an
// access of all of them, which never happens, would have it lie in memory.
std::optional<std::int64_t> Values::fewer_in_registers(loops::Buffer buffer, const Along& run) const {
  const auto from = index::constant_of(run.rest), count = index::constant_of(info(buffer).count);
  const bool known = run.kind == Along::Kind::linear && index::constant_of(run.stride) == 1 && from && count;
  if (!is_own(buffer) || !known || *count - *from >= indices_.lanes()) return std::nullopt;
  return *count - *from;
}

void Values::load_ahead(const loops::Load& given) {
  const loops::BufferInfo& of = info(given.buffer);
  if (of.written || of.local) return;
  std::set<index::Symbol> symbols = mentioned(given.offset);
  symbols.merge(index::symbols_of(given.mask));
  if (std::ranges::all_of(symbols, [&](index::Symbol symbol) { return indices_.is_active(symbol); }))
    load(given);
}

int Values::level_of(const loops::Load& load, const Along& run, const Mask& mask) const {
  const loops::BufferInfo& of = info(load.buffer);
  const bool fixed = !of.written && !of.local && mask.kind == Mask::Kind::always;
  if (!fixed || run.kind == Along::Kind::general) return scopes_.level();
  return scopes_.outermost(std::max(indices_.level_of(run.rest), indices_.level_of(run.stride)));
}

Operand Values::uniform_load(const loops::Load& load, const Mask& mask) {
  const ops::DType dtype = info(load.buffer).dtype;
  const std::string element = element_at(pointer(load.buffer, load.offset));
  std::string text = dialect_.loaded(dtype, element);
  const std::string otherwise = literal(load.otherwise.value, dtype, 1);
  if (mask.kind != Mask::Kind::always) text = cat(indices_.any(mask), " ? ", text, " : ", otherwise);
  const Along run{Along::Kind::uniform, 0, indices_.here(load.offset)};
  const Operand operand =
      named_at(level_of(load, run, mask), {text, dtype, 1}, {.buffer = load.buffer, .total = {}});
  if (mask.kind == Mask::Kind::always || mask.kind == Mask::Kind::uniform) return operand;
  const int lanes = indices_.lanes();
  const Operand outside{otherwise, dtype, 1};
  return named({cat("where(", indices_.as_lanes(mask), ", ", with_lanes(operand, lanes), ", ",
                    with_lanes(outside, lanes), ")"),
                dtype, lanes});
}

std::string Values::lanes_load(const loops::Load& load, const Along& run, const Mask& mask) {
  const std::string count = cat("<", indices_.lanes(), ">(");
  const bool all = mask.kind == Mask::Kind::always;
  const std::string otherwise = memory_literal(load.otherwise);
  if (run.kind == Along::Kind::general) {
    if (const auto parts = all ? indices_.parts(load.offset) : std::nullopt)
      return cat(parts->in_turn ? "load_in_turn<" : "load_parts<", indices_.lanes(), ", ", parts->count, ">(",
                 pointer(load.buffer, parts->first), ", ", parts->apart, ")");
    const std::string places = cat(buffer(load.buffer).name, ", ", indices_.lanes_argument(run.rest));
    if (all) return cat("gather", count, places, ")");
    return cat("gather_where", count, places, ", ", indices_.as_argument(mask), ", ", otherwise, ")");
  }
  const std::string first = pointer(load.buffer, run.rest);
  if (is_walked(load.buffer, run, mask))
    return all ? vectors_.element(first) : cat(mask.text, " ? ", vectors_.element(first), " : ", otherwise);
  if (is_filled(load.buffer, run, mask))
    return all ? cat("load_packed(", first, ", ")
               : cat("load_packed_if(", first, ", ", mask.text, ", ", otherwise, ", ");
  const auto stride = index::constant_of(run.stride);
  const bool together = mask.kind == Mask::Kind::uniform;
  const std::string_view way = way_of(load.buffer, run.rest);
  if (all && stride == 1) return cat("load", way, count, first, ")");
  if (together && stride == 1)
    return cat("load", way, "_if", count, first, ", ", mask.text, ", ", otherwise, ")");
  if (all && stride == -1) return cat("load_reversed", count, first, ")");
  if (all && stride && dialect_.loads_every(*stride, indices_.lanes()))
    return cat("load_every<", indices_.lanes(), ", ", *stride, ">(", first, ")");
  if (all) return cat("load_strided", count, first, ", ", indices_.name(run.stride), ")");
  if (stride && mask.kind != Mask::Kind::lanes) {
    const std::string active = cat(", ", indices_.as_count(mask), ", ", otherwise, ")");
    if (const auto size = fewer_in_registers(load.buffer, run))
      return cat("load_first_of<", indices_.lanes(), ", ", std::min(mask.least, *size), ", ", *size, ">(",
                 first, active);
    if (stride == 1) return cat("load_first", count, first, active);
    if (dialect_.loads_every(*stride, indices_.lanes()))
      return cat("load_every_first<", indices_.lanes(), ", ", *stride, ">(", first, active);
  }
  if (stride == 1 && dialect_.has_vectors())
    return cat("load_where", count, first, ", ", indices_.as_argument(mask), ", ", otherwise, ")");
  return cat("load_strided_where", count, first, ", ", indices_.name(run.stride), ", ",
             indices_.as_argument(mask), ", ", otherwise, ")");
}

void Values::store(const loops::Store& store) {
  const Along run = indices_.along(store.offset);
  const Operand operand = value(*store.value);
  const ops::DType dtype = info(store.buffer).dtype;
  CHECK(operand.dtype == dtype, "a store of ", ops::name(operand.dtype), " into ", ops::name(dtype));
  const Mask mask = indices_.mask(store.mask, mentioned(store.offset));
  const std::string prefix(prefix_of(store.update));
  const bool one_lane =
      indices_.lanes() == 1 || (store.update == loops::Update::replace && operand.lanes == 1);
  if (run.kind == Along::Kind::uniform && one_lane) {
    uniform_store(store, operand, mask, prefix);
  } else {
    const int lanes = indices_.lanes();
    const std::string text = dialect_.stored(dtype, with_lanes(operand, lanes));
    if (is_walked(store.buffer, run, mask)) {
      CHECK(store.update == loops::Update::replace, "an atomic store into registers");
      const std::string target = vectors_.element(pointer(store.buffer, run.rest));
      scopes_.line(cat(mask.kind == Mask::Kind::always ? "" : cat("if (", mask.text, ") "),
                       vectors_.assignment(target, text, lanes)));
    } else {
      const bool listed = store.update == loops::Update::replace && !info(store.buffer).streamed &&
                          is_filled(store.buffer, run, mask);
      const std::string given =
          listed ? vectors_.listed(text, lanes) : vectors_.whole(text, dialect_.memory_type(dtype), lanes);
      scopes_.line(cat(adds_run(store, run, mask) ? added_run(store, run, given, mask)
                                                  : cat(prefix, lanes_store(store, run, given, mask)),
                       ";"));
    }
  }
  scopes_.forget({.buffer = store.buffer, .total = {}});
}

void Values::uniform_store(const loops::Store& store, const Operand& value, const Mask& mask,
                           const std::string& prefix) {
  const std::string place = pointer(store.buffer, store.offset);
  const std::string stored = dialect_.stored(info(store.buffer).dtype, value.text);
  const std::string text = prefix.empty() ? cat(element_at(place), " = ", stored, ";")
                                          : cat(prefix, "store(", place, ", ", stored, ");");
  scopes_.line(mask.kind == Mask::Kind::always ? text : cat("if (", indices_.any(mask), ") ", text));
}

// Whether threads add to neighbours in global memory, all of them or none: they have a function for it.
bool Values::adds_run(const loops::Store& store, const Along& run, const Mask& mask) const {
  return store.update == loops::Update::atomic_add && dialect_.has_threads() && !info(store.buffer).local &&
         run.kind == Along::Kind::linear && index::constant_of(run.stride) == 1 &&
         (mask.kind == Mask::Kind::always || mask.kind == Mask::Kind::uniform);
}

std::string Values::added_run(const loops::Store& store, const Along& run, const std::string& value,
                              const Mask& mask) {
  return cat(mask.kind == Mask::Kind::uniform ? cat("if (", mask.text, ") ") : std::string(),
             "atomic_add_run(", pointer(store.buffer, run.rest), ", ", value, ")");
}

std::string Values::lanes_store(const loops::Store& store, const Along& run, const std::string& value,
                                const Mask& mask) {
  const bool all = mask.kind == Mask::Kind::always;
  if (run.kind == Along::Kind::general) {
    const std::string places = cat(buffer(store.buffer).name, ", ", indices_.lanes_argument(run.rest), ", ");
    return all ? cat("scatter(", places, value, ")")
               : cat("scatter_where(", places, indices_.as_argument(mask), ", ", value, ")");
  }
  const std::string first = pointer(store.buffer, run.rest);
  const auto stride = index::constant_of(run.stride);
  const bool plain = store.update == loops::Update::replace;
  const bool together = mask.kind == Mask::Kind::uniform;
  if ((all || together) && plain && stride == 1)
    return cat(together ? cat("if (", mask.text, ") ") : std::string(), "store",
               info(store.buffer).streamed ? "_streaming" : way_of(store.buffer, run.rest), "(", first, ", ",
               value, ")");
  if (all && plain && stride == -1) return cat("store_reversed(", first, ", ", value, ")");
  if (all) return cat("store_strided(", first, ", ", indices_.name(run.stride), ", ", value, ")");
  if (const auto size = fewer_in_registers(store.buffer, run); size && mask.kind != Mask::Kind::lanes)
    return cat("store_first_of<", std::min(mask.least, *size), ", ", *size, ">(", first, ", ",
               indices_.as_count(mask), ", ", value, ")");
  if (plain && stride == 1 && mask.kind != Mask::Kind::lanes)
    return cat("store_first(", first, ", ", indices_.as_count(mask), ", ", value, ")");
  if (plain && stride == 1 && dialect_.has_vectors())
    return cat("store_where(", first, ", ", indices_.as_argument(mask), ", ", value, ")");
  return cat("store_strided_where(", first, ", ", indices_.name(run.stride), ", ", indices_.as_argument(mask),
             ", ", value, ")");
}

// Of the places of a vector loop those from the first on, as if they were neighbours.
void Values::prefetch(const loops::Prefetch& prefetch) {
  const Along run = indices_.along(prefetch.offset);
  if (run.kind == Along::Kind::general) return;
  scopes_.line(cat(prefetch.written ? "prefetch_written<" : "prefetch<", indices_.lanes(), ">(",
                   pointer(prefetch.buffer, run.rest), ");"));
}

void Values::prefetch_run(const loops::Prefetch& prefetch) {
  const Mask mask = indices_.mask(prefetch.mask);
  const std::string text = cat("prefetch_run(", pointer(prefetch.buffer, prefetch.offset), ", ",
                               indices_.name(prefetch.count), ");");
  scopes_.line(mask.kind == Mask::Kind::always ? text : cat("if (", indices_.any(mask), ") ", text));
}

// Where the lanes of a loaded value come from, for words: {of lane 0, from lane to lane}. An Index of no node
// is right by construction and needs no words: registers would be taken for them.
std::string Values::offset_of(const loops::Index& index) {
  const loops::Load* const load = index.node < 0 ? nullptr : loops::first_load(*index.value);
  if (load == nullptr || program_.buffers[load->buffer.index].local) return "{-1, 0}";
  const Along run = indices_.along(load->offset);
  if (run.kind == Along::Kind::general) return "{-1, 0}";
  return cat("{", indices_.text(run.rest), ", ", indices_.text(run.stride), "}");
}

// The symbol's value and where it may be used come back from the device header as one struct.
void Values::index(const loops::Index& index) {
  const Operand given = value(*index.value);
  const Mask mask = indices_.mask(index.mask);
  const bool varying = given.lanes > 1 || mask.kind == Mask::Kind::first || mask.kind == Mask::Kind::lanes;
  const int lanes = varying ? indices_.lanes() : 1;
  Operand place{given.dtype == ops::DType::i64 ? given.text
                                               : dialect_.converted(given.dtype, ops::DType::i64, given.text),
                ops::DType::i64, given.lanes};
  const std::string active = varying ? indices_.as_argument(mask) : indices_.as_bool(mask);
  CHECK(indices_.along(index.bound).kind == Along::Kind::uniform, "a bound with a value for each lane");
  const std::string name = scopes_.fresh("s");
  scopes_.line(cat("const Found<", lanes, "> ", name, " = find<", lanes, ">(", argument(place, lanes), ", ",
                   active, ", ", indices_.name(index.bound), ", ", index.negative_wraps ? "true" : "false",
                   ", ", index.node, ", ", offset_of(index), ", ", dialect_.failure(), ");"));
  indices_.bind(index.symbol, {vectors_.lanes_of(cat(name, ".place"), lanes), scopes_.level(), varying,
                               vectors_.lanes_of(cat(name, ".ok"), lanes)});
}

}  // namespace twinloom::emit
