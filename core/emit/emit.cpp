// The walk over a program's statements. See emit.h; the parts are scopes.h, indices.h, values.h, totals.h.
#include "core/emit/emit.h"

#include <algorithm>
#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/emit/spelling.h"
#include "core/emit/threads.h"
#include "core/emit/totals.h"
#include "core/emit/transposition.h"
#include "core/emit/values.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

namespace {

using loops::Bind;
using loops::Loop;
using loops::Ref;
using loops::Stmt;

// The outermost block loops, whose turns are the tasks, and what a task does.
struct Tasks {
  std::vector<const Loop*> loops;
  Ref<Stmt> body;
};

Tasks tasks_of(const loops::Program& program) {
  Tasks tasks;
  tasks.body = program.body;
  while (const auto* loop = std::get_if<Loop>(&tasks.body->node)) {
    if (loop->bind != Bind::block) break;
    bool depends = false;
    for (const Loop* outer : tasks.loops) depends = depends || index::mentions(loop->extent, outer->axis);
    if (depends) break;
    tasks.loops.push_back(loop);
    tasks.body = loop->body;
  }
  return tasks;
}

// Whether threads exchange totals.
bool has_exchanges(const Stmt& body) {
  bool found = false;
  loops::for_each_stmt(body, [&](const Stmt& stmt) {
    found = found || std::holds_alternative<loops::Combine>(stmt.node) ||
            std::holds_alternative<loops::Prefix>(stmt.node);
  });
  return found;
}

class Emitter {
 public:
  Emitter(const loops::Program& program, const Dialect& dialect)
      : program_(program),
        dialect_(dialect),
        threads_(program),
        scratch_(scratch_layout(program)),
        span_(threads_.count()),
        vectors_(dialect, scopes_),
        indices_(scopes_, vectors_, dialect, facts_),
        values_(program, scopes_, indices_, vectors_, dialect),
        totals_(program, threads_, scopes_, indices_, values_, vectors_, dialect) {}

  std::vector<std::string> lines() {
    for (const std::string& line : dialect_.opening(program_)) scopes_.line(line);
    bind_arguments();
    const Tasks tasks = tasks_of(program_);
    if (tasks.loops.empty())
      stmt(*tasks.body);
    else
      task_loop(tasks);
    if (std::ranges::any_of(program_.buffers, &loops::BufferInfo::streamed)) scopes_.line("stores_done();");
    return scopes_.lines();
  }

 private:
  void bind_arguments();
  void task_loop(const Tasks& tasks);
  void stmt(const Stmt& stmt);
  std::size_t stmts_from(const loops::Block& block, std::size_t at);
  void loop(const Loop& loop);
  void assume(const Loop& loop);
  void serial(const Loop& loop);
  bool walks_registers(const Loop& loop) const;
  void thread(const Loop& loop);
  void store(const loops::Store& store);
  void prefetch(const loops::Prefetch& prefetch);
  void sync();
  void unroll(const Loop& loop, std::int64_t extent);
  bool transposed(const Loop& loop);
  void load_ahead(const Stmt& stmt);
  void vector(const Loop& loop);
  void in_vector(const Loop& loop, const std::function<void()>& write);
  void let(const loops::Let& let);
  void scratch(const loops::Scratch& scratch);
  void last_block(const loops::LastBlock& last);
  void call(const loops::Call& call);
  std::string slot(const loops::Slot& slot);
  void forget_what_changes(const Stmt& stmt);
  // Which of the threads that execute this for the same members a thread is.
  std::string number_in_span() const {
    return span_ == threads_.count() ? "thread" : cat("thread % ", span_);
  }
  std::string i64() const { return dialect_.type(ops::DType::i64, 1); }

  const loops::Program& program_;
  const Dialect& dialect_;
  Threads threads_;
  ScratchLayout scratch_;
  std::int64_t span_;   // threads that execute what is being written for the same members of thread loops
  index::Facts facts_;  // of sizes and of the loops so far
  std::map<index::Symbol, index::Expr> extents_;  // of these loops
  Scopes scopes_;
  Vectors vectors_;
  Indices indices_;
  Values values_;
  Totals totals_;
};

void Emitter::bind_arguments() {
  for (std::size_t at = 0; at < program_.buffers.size(); ++at) {
    const loops::BufferInfo& buffer = program_.buffers[at];
    if (buffer.local) continue;
    const std::string type = cat(buffer.written ? "" : "const ", dialect_.memory_type(buffer.dtype));
    const std::string name = cat("a", at);
    scopes_.line(cat(type, "* const ", name, " = ", dialect_.argument(type, buffer.dtype, at), ";"));
    values_.set_buffer(loops::Buffer{static_cast<std::uint32_t>(at)}, {name});
  }
  for (std::size_t at = 0; at < program_.sizes.size(); ++at) {
    const std::string name = scopes_.fresh("n");
    scopes_.line(cat("const ", i64(), " ", name, " = ", dialect_.size(at, program_.sizes[at]), ";"));
    facts_.assume(program_.sizes[at].symbol, dialect_.range(program_.sizes[at]), program_.sizes[at].divisor);
    indices_.bind(program_.sizes[at].symbol, {name, 0, false, {}});
  }
}

// One counter for one loop; several are taken out of the task's number, the last is the fastest.
void Emitter::task_loop(const Tasks& tasks) {
  const bool single = tasks.loops.size() == 1;
  const std::string task = single ? scopes_.fresh("k") : "task";
  const index::Expr count = task_count(program_);
  std::vector<std::string> extents;
  for (const Loop* loop : tasks.loops) extents.push_back(indices_.name(loop->extent));
  scopes_.open(true);  // nobody asks for no tasks
  for (const Loop* loop : tasks.loops) assume(*loop);
  if (single) {
    indices_.bind(tasks.loops.front()->axis, {task, scopes_.level(), false, {}});
  } else {
    std::string rest = task;
    for (std::size_t at = tasks.loops.size(); at-- > 0;) {
      const std::string name = at == 0 ? rest : scopes_.fresh("k");
      indices_.bind(tasks.loops[at]->axis, {name, scopes_.level(), false, {}});
      if (at == 0) continue;
      const auto divided = [&](const char* kind) {
        return cat(indices_.quotient(kind, count, tasks.loops[at]->extent), "(", rest, ", ", extents[at],
                   ")");
      };
      scopes_.line(cat("const ", i64(), " ", name, " = ", divided("mod"), ";"));
      const std::string left = scopes_.fresh("n");
      scopes_.line(cat("const ", i64(), " ", left, " = ", divided("div"), ";"));
      rest = left;
    }
  }
  stmt(*tasks.body);
  scopes_.close(dialect_.task(task), "}");
}

void Emitter::stmt(const Stmt& stmt) {
  match(
      stmt,
      [&](const loops::Block& node) {
        for (std::size_t at = 0; at < node.stmts.size();) at = stmts_from(node, at);
      },
      [&](const Loop& node) { loop(node); }, [&](const loops::Let& node) { let(node); },
      [&](const loops::Index& node) { values_.index(node); }, [&](const loops::Store& node) { store(node); },
      [&](const loops::Start& node) { totals_.start(node); },
      [&](const loops::Accumulate&) { CHECK(false, "an Accumulate in a program"); },
      [&](const loops::Scan&) { CHECK(false, "a Scan in a program"); },
      [&](const loops::Merge& node) { totals_.merge(node); },
      [&](const loops::Combine& node) { totals_.combine({node}, span_); },
      [&](const loops::Push& node) { totals_.push(node); },
      [&](const loops::Fold& node) { totals_.fold(node); },
      [&](const loops::Prefix& node) { totals_.prefix(node); },
      [&](const loops::Scratch& node) { scratch(node); },
      [&](const loops::Prefetch& node) { prefetch(node); }, [&](const loops::Sync&) { sync(); },
      [&](const loops::LastBlock& node) { last_block(node); }, [&](const loops::Call& node) { call(node); });
}

// One statement, or all neighbours that combine across one axis. Gives where the next one stands.
std::size_t Emitter::stmts_from(const loops::Block& block, std::size_t at) {
  std::vector<loops::Combine> group;
  for (; at < block.stmts.size(); ++at) {
    const auto* combine = std::get_if<loops::Combine>(&block.stmts[at]->node);
    if (combine == nullptr) break;
    if (!group.empty() && !combine_together(group.front(), *combine)) break;
    group.push_back(*combine);
  }
  if (!group.empty()) {
    totals_.combine(group, span_);
    return at;
  }
  stmt(*block.stmts[at]);
  return at + 1;
}

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

void Emitter::serial(const Loop& loop) {
  CHECK(indices_.along(loop.extent).kind == Along::Kind::uniform, "the loop over ", loop.axis,
        " has another extent for each lane");
  const std::string extent = indices_.name(loop.extent);
  const std::string name = scopes_.fresh("k");
  forget_what_changes(*loop.body);
  scopes_.open(facts_.proves_less(0, indices_.here(loop.extent)));
  assume(loop);
  indices_.bind(loop.axis, {name, scopes_.level(), false, {}});
  stmt(*loop.body);
  indices_.unbind(loop.axis);
  const bool constant = index::constant_of(indices_.here(loop.extent)).has_value();
  const std::string head = constant ? counted(name, extent) : dialect_.loop(name, extent);
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
  const std::string number = width == 1                  ? number_in_span()
                             : span_ == threads_.count() ? cat("thread / ", width)
                                                         : cat("(", number_in_span(), ") / ", width);
  const std::int64_t around = span_;
  const bool all = extent * width == around;
  scopes_.open();
  assume(loop);
  indices_.bind(loop.axis, {name, scopes_.level(), false, {}});
  span_ = width;
  stmt(*loop.body);
  span_ = around;
  indices_.unbind(loop.axis);
  const std::string definition = cat("const ", i64(), " ", name, " = ", number, ";");
  scopes_.close(all ? cat("{ ", definition) : cat("if (", definition, " ", name, " < ", extent, ") {"), "}");
}

// One of the threads that would store the same.
void Emitter::store(const loops::Store& store) {
  if (span_ == 1 || values_.is_of_thread(store.buffer)) return values_.store(store);
  scopes_.open();
  values_.store(store);
  scopes_.close(cat("if (", number_in_span(), " == 0) {"), "}");
}

// A run is fetched by one thread.
void Emitter::prefetch(const loops::Prefetch& prefetch) {
  if (prefetch.count == index::Expr(1)) return values_.prefetch(prefetch);
  CHECK(dialect_.has_threads(), "a prefetch of ", prefetch.count, " elements where blocks have one thread");
  scopes_.open();
  values_.prefetch_run(prefetch);
  scopes_.close(cat("if (", number_in_span(), " == 0) {"), "}");
}

// What was read from scratch may have changed.
void Emitter::sync() {
  const std::string line = dialect_.sync();
  if (line.empty()) return;
  scopes_.line(line);
  for (std::size_t at = 0; at < program_.buffers.size(); ++at) {
    if (program_.buffers[at].local)
      scopes_.forget({.buffer = loops::Buffer{static_cast<std::uint32_t>(at)}, .total = {}});
  }
}

// The loads of one turn, of what is named or stored. Threads wait for memory, and no load passes a store:
// those of all turns are under way together where they stand before the first store.
void Emitter::load_ahead(const Stmt& stmt) {
  if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const Ref<Stmt>& inner : block->stmts) load_ahead(*inner);
  } else if (std::holds_alternative<loops::Store>(stmt.node) ||
             std::holds_alternative<loops::Let>(stmt.node)) {
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
  for (std::int64_t at = 0; dialect_.has_threads() && at < extent; ++at) {
    indices_.set_constant(loop.axis, at);
    load_ahead(*loop.body);
  }
  for (std::int64_t at = 0; at < extent; ++at) {
    indices_.set_constant(loop.axis, at);
    stmt(*loop.body);
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

void Emitter::let(const loops::Let& let) { values_.set_temp(let.temp, {values_.value(*let.value)}); }

void Emitter::scratch(const loops::Scratch& scratch) {
  const loops::BufferInfo& buffer = program_.buffers[scratch.buffer.index];
  const auto count = index::constant_of(scratch.count);
  CHECK(count.has_value(), "scratch ", buffer.name, " of ", scratch.count, " elements");
  const std::string name = cat("a", scratch.buffer.index);
  const std::string type = dialect_.memory_type(buffer.dtype);
  const std::string elements = cat(std::max<std::int64_t>(*count, 1));
  scopes_.line(scratch.place == loops::Place::scratch
                   ? dialect_.block_array(type, name, elements, scratch_.offsets.at(scratch.buffer))
                   : dialect_.array(type, name, elements, scratch.place));
  values_.set_buffer(scratch.buffer, {name, scopes_.level()}, scratch.place == loops::Place::registers);
  stmt(*scratch.body);
  scopes_.forget({.buffer = scratch.buffer, .total = {}});
}

// Blocks arrive one by one at a counter; the last one resets it.
void Emitter::last_block(const loops::LastBlock& last) {
  index::Expr count = 1;
  for (const loops::Axis axis : last.among) {
    for (const Loop* loop : tasks_of(program_).loops)
      if (loop->axis == axis) count = count * loop->extent;
  }
  const std::string counter = indices_.pointer(values_.buffer(last.counter), last.offset);
  const std::string members = indices_.name(count);
  forget_what_changes(*last.body);
  scopes_.open();
  stmt(*last.body);
  scopes_.close(cat("if (arrives_last(", counter, ", ", members, ")) {"), "}");
}

std::string Emitter::slot(const loops::Slot& slot) {
  std::vector<std::string> counters;
  scopes_.open();
  for (const loops::Axis axis : slot.at) {
    counters.push_back(scopes_.fresh("k"));
    indices_.bind(axis, {counters.back(), scopes_.level(), false, {}});
  }
  stmt(*slot.body);
  const Operand element = values_.value(loops::Value{loops::Read{slot.element, 0}});
  scopes_.line(cat("return ", element.text, ";"));
  const std::string parameters =
      join(counters, ", ", [&](const std::string& name) { return cat(i64(), " ", name); });
  const std::string name = scopes_.fresh("slot");
  scopes_.close(cat("const auto ", name, " = [&](", parameters, ") -> ",
                    dialect_.type(element.dtype, element.lanes), " {"),
                "};");
  return name;
}

void Emitter::call(const loops::Call& call) {
  std::vector<std::string> arguments;
  for (const loops::Buffer buffer : call.operands) arguments.push_back(values_.buffer(buffer).name);
  for (const index::Expr& size : call.sizes) arguments.push_back(indices_.name(size));
  for (const loops::Slot& inner : call.slots) arguments.push_back(slot(inner));
  const auto name = [&] {
    switch (call.routine) {
      case loops::Routine::stable_sort:
        return "stable_sort";
    }
    return "";
  };
  scopes_.line(cat(name(), "(", join(arguments, ", ", [](const std::string& text) { return text; }), ");"));
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

}  // namespace

index::Expr task_count(const loops::Program& program) {
  index::Expr count = 1;
  for (const Loop* loop : tasks_of(program).loops) count = count * loop->extent;
  return count;
}

std::int64_t thread_count(const loops::Program& program) { return Threads(program).count(); }

ScratchLayout scratch_layout(const loops::Program& program) {
  constexpr std::int64_t ALIGNMENT = 16;  // of the widest access
  ScratchLayout layout;
  loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* scratch = std::get_if<loops::Scratch>(&stmt.node);
    if (scratch == nullptr || scratch->place != loops::Place::scratch) return;
    const std::int64_t count = *index::constant_of(scratch->count);  // as verify() asks
    layout.offsets.emplace(scratch->buffer, layout.bytes);
    const std::int64_t bytes = count * ops::size_of(program.buffers[scratch->buffer.index].dtype);
    layout.bytes += ceil_div(bytes, ALIGNMENT) * ALIGNMENT;
  });
  return layout;
}

std::string emit(const loops::Program& program, const Dialect& dialect, std::string_view comment) {
  Writer writer;
  comment_lines(writer, comment);
  writer.line(dialect.before());
  writer.line(dialect.head(program), " {");
  {
    const Indented indented(writer);
    for (const std::string& line : Emitter(program, dialect).lines()) writer.line(line);
  }
  writer.line("}");
  writer.line(dialect.after());
  return writer.take();
}

}  // namespace twinloom::emit
