// Loops: of one thread, of the threads of a block, written out, and of vectors, which are no loops of the
// text. See emitter.h.
#include "core/base/error.h"
#include "core/emit/emitter.h"
#include "core/emit/spelling.h"
#include "core/emit/transposition.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

using loops::Bind;
using loops::Loop;
using loops::Ref;
using loops::Stmt;

namespace {

template <class... Kinds>
bool has_any(const Stmt& body) {
  bool found = false;
  loops::for_each_stmt(
      body, [&](const Stmt& stmt) { found = found || (std::holds_alternative<Kinds>(stmt.node) || ...); });
  return found;
}

// Whether threads exchange totals.
bool has_exchanges(const Stmt& body) { return has_any<loops::Combine, loops::Prefix>(body); }

}  // namespace

void Emitter::loop(const Loop& loop) {
  const auto extent = index::constant_of(indices_.here(loop.extent));
  if (extent && *extent <= 0) return;
  if (loop.bind == Bind::thread)
    CHECK(dialect_.has_threads(), "a thread loop over ", loop.axis, " where blocks have one thread");
  if (loop.bind == Bind::thread) {
    thread(loop);
  } else if (extent == 1) {
    unroll(loop, 1);
  } else if (transposed(loop)) {
    return;
  } else if (loop.bind == Bind::vector) {
    vector(loop);
  } else if (loop.bind == Bind::unroll) {
    CHECK(extent.has_value(), "an unrolled loop over ", loop.axis, " of extent ", loop.extent);
    unroll(loop, *extent);
  } else {
    serial(loop);
  }
}

// What is known of an axis is known of every loop over it.
void Emitter::assume(const Loop& loop) {
  const index::Expr& first = extents_.try_emplace(loop.axis, loop.extent).first->second;
  CHECK(first == loop.extent, "loops over ", loop.axis, " of ", first, " and of ", loop.extent);
  facts_.assume_below(loop.axis, loop.extent);
}

// A loop of one iteration at most; what no iteration changes is computed inside then.
void Emitter::once(const Loop& loop, const std::string& extent) {
  forget_what_changes(*loop.body);
  scopes_.open();
  assume(loop);
  indices_.set_constant(loop.axis, 0);
  stmt(*loop.body);
  indices_.clear_constant(loop.axis);
  scopes_.close(cat("if (", extent, " > 0) {"), "}");
}

void Emitter::serial(const Loop& loop) {
  CHECK(indices_.along(loop.extent).kind == Along::Kind::uniform, "the loop over ", loop.axis,
        " has another extent for each lane");
  const std::string extent = indices_.name(loop.extent);
  if (!index::constant_of(indices_.here(loop.extent)) && facts_.proves_less(indices_.here(loop.extent), 2))
    return once(loop, extent);
  const std::string name = scopes_.fresh("k");
  forget_what_changes(*loop.body);
  scopes_.open(facts_.proves_less(0, indices_.here(loop.extent)));
  assume(loop);
  indices_.bind(loop.axis, {name, scopes_.level(), false, {}});
  stmt(*loop.body);
  indices_.unbind(loop.axis);
  const auto constant = index::constant_of(indices_.here(loop.extent));
  // A compiler that unrolls a long loop which looks up indices has all of its lookups in registers before the
  // first load: NVRTC gave a sum over 16 times 16 of them 209 registers a thread, 56 where it stays a loop.
  constexpr std::int64_t FEW = 4;  // loads of an iteration that hide each other's latency
  const bool counts = constant && (*constant <= FEW || !loops::looks_up_indices(*loop.body));
  const std::string head = counts ? counted(name, extent) : dialect_.loop(name, extent);
  scopes_.close(constant && walks_registers(loop) ? cat("TWINLOOM_UNROLL ", head) : head, "}");
}

// An array has registers only where all of its places are constants.
bool Emitter::walks_registers(const Loop& loop) const {
  bool found = false;
  const auto look = [&](loops::Buffer buffer, const index::Expr& offset) {
    found = found || (values_.is_own(buffer) && index::mentions(offset, loop.axis));
  };
  loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<loops::Store>(&stmt.node)) look(store->buffer, store->offset);
    loops::for_each_value(stmt, [&](const loops::Value& value) {
      if (const auto* load = std::get_if<loops::Load>(&value.node)) look(load->buffer, load->offset);
    });
  });
  return found;
}

// Each thread is a member of the loop, as threads.h numbers them.
void Emitter::thread(const Loop& loop) {
  const std::int64_t extent = *index::constant_of(indices_.here(loop.extent));
  const std::int64_t width = threads_.width(loop.axis);
  const std::string name = scopes_.fresh("k");
  const bool from_outside = threads_.outermost_fastest();
  const std::string number = from_outside && width == 1   ? cat("thread % ", extent)
                             : from_outside || width == 1 ? number_in_span()
                             : span_ == threads_.count()  ? cat("thread / ", width)
                                                          : cat("(", number_in_span(), ") / ", width);
  const std::int64_t around = span_, inside = from_outside ? around / extent : width;
  const bool all = extent * inside == around;
  scopes_.open(all);
  assume(loop);
  indices_.bind(loop.axis, {name, scopes_.level(), false, {}});
  span_ = inside;
  stmt(*loop.body);
  span_ = around;
  indices_.unbind(loop.axis);
  const std::string definition = cat("const ", i64(), " ", name, " = ", number, ";");
  scopes_.close(all ? cat("{ ", definition) : cat("if (", definition, " ", name, " < ", extent, ") {"), "}");
}

// The loads of one iteration, of what is named, looked up or stored. Threads wait for memory, and no load passes a
// store: those of all iterations are under way together where they stand before the first store. What lies at a
// place that an iteration finds waits for it.
void Emitter::load_ahead(const Stmt& stmt) {
  if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const Ref<Stmt>& inner : block->stmts) load_ahead(*inner);
  } else if (std::holds_alternative<loops::Store>(stmt.node) ||
             std::holds_alternative<loops::Let>(stmt.node) ||
             std::holds_alternative<loops::Index>(stmt.node)) {
    loops::for_each_value(stmt, [&](const loops::Value& value) {
      if (const auto* load = std::get_if<loops::Load>(&value.node)) values_.load_ahead(*load);
    });
  } else if (const auto* loop = std::get_if<Loop>(&stmt.node); loop && loop->bind == Bind::vector) {
    in_vector(*loop, [&] { load_ahead(*loop->body); });
  }
}

void Emitter::unroll(const Loop& loop, std::int64_t extent) {
  const auto* threads = std::get_if<Loop>(&loop.body->node);
  if (threads != nullptr && threads->bind == Bind::thread && !has_exchanges(*threads->body)) {
    Loop outside = *threads;  // whose turns then stand side by side
    outside.body = loops::stmt(Loop{loop.axis, loop.extent, Bind::unroll, threads->body});
    return thread(outside);
  }
  loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {  // of an iteration before
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) indices_.unbind(index->symbol);
  });
  for (std::int64_t at = 0; dialect_.has_threads() && at < extent; ++at) {
    indices_.set_constant(loop.axis, at);
    load_ahead(*loop.body);
  }
  // An array of one iteration has the name of the next one's.
  const bool is_scope = extent > 1 && has_any<loops::Scratch>(*loop.body);
  for (std::int64_t at = 0; at < extent; ++at) {
    indices_.set_constant(loop.axis, at);
    if (is_scope) scopes_.open(/*surely_runs=*/true);
    stmt(*loop.body);
    if (is_scope) scopes_.close("{", "}");
  }
  indices_.clear_constant(loop.axis);
}

// Whether the loop turns over a square and the dialect can do that in one go, which is then written.
bool Emitter::transposed(const Loop& loop) {
  const auto found = transposition_of(loop, indices_.constants());
  if (!found) return false;
  const ops::DType dtype = program_.buffers[found->to.index].dtype;
  const Mask mask = indices_.mask({}, index::symbols_of(found->from_place));
  if (!dialect_.transposes(dtype, found->count) || mask.kind != Mask::Kind::always) return false;
  const std::string to = indices_.pointer(values_.buffer(found->to), found->to_place);
  const std::string to_stride = indices_.name(found->to_stride);
  const std::string from = indices_.pointer(values_.buffer(found->from), found->from_place);
  const std::string from_stride = indices_.name(found->from_stride);
  scopes_.line(
      cat("transpose<", found->count, ">(", to, ", ", to_stride, ", ", from, ", ", from_stride, ");"));
  scopes_.forget({.buffer = found->to, .total = {}});
  return true;
}

void Emitter::vector(const Loop& loop) {
  in_vector(loop, [&] { stmt(*loop.body); });
}

void Emitter::in_vector(const Loop& loop, const std::function<void()>& write) {
  const auto extent = index::constant_of(indices_.here(loop.extent));
  CHECK(extent.has_value(), "a vector loop over ", loop.axis, " of extent ", loop.extent);
  CHECK(!indices_.vector(), "a vector loop over ", loop.axis, " inside one over ", indices_.vector()->axis);
  assume(loop);
  indices_.set_vector(VectorAxis{loop.axis, static_cast<int>(*extent)});
  write();
  indices_.set_vector(std::nullopt);
}

// A loop comes back to its beginning after its end has changed memory and totals.
void Emitter::forget_what_changes(const Stmt& stmt) {
  const auto total = [&](loops::Temp temp) { scopes_.forget({.buffer = {}, .total = temp}); };
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* store = std::get_if<loops::Store>(&inner.node))
      scopes_.forget({.buffer = store->buffer, .total = {}});
    if (const auto* merge = std::get_if<loops::Merge>(&inner.node)) total(merge->total);
    if (const auto* combine = std::get_if<loops::Combine>(&inner.node)) total(combine->total);
    if (const auto* push = std::get_if<loops::Push>(&inner.node)) total(push->stack);
  });
}

}  // namespace twinloom::emit
