// What begins and ends a kernel, and all statements but loops. See emit.h and emitter.h.
#include "core/emit/emit.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/emit/emitter.h"
#include "core/emit/spelling.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

using loops::Loop;
using loops::Stmt;

namespace {

bool combines(const Stmt& body) {
  bool found = false;
  loops::for_each_stmt(
      body, [&](const Stmt& stmt) { found |= std::holds_alternative<loops::Combine>(stmt.node); });
  return found;
}

}  // namespace

std::vector<std::string> Emitter::lines() {
  for (const std::string& line : dialect_.opening(program_)) scopes_.line(line);
  indices_.compare_shortly(dialect_.has_threads() && !combines(*program_.body));
  bind_arguments();
  const Tasks tasks = tasks_of(program_);
  if (tasks.loops.empty())
    stmt(*tasks.body);
  else
    task_loop(tasks);
  if (std::ranges::any_of(program_.buffers, &loops::BufferInfo::streamed)) scopes_.line("stores_done();");
  return scopes_.lines();
}

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
  scopes_.close(dialect_.task(task, threads_.shape().blocks), "}");
}

void Emitter::stmt(const Stmt& stmt) {
  match(
      stmt,
      [&](const loops::Block& node) {
        for (std::size_t at = 0; at < node.stmts.size();) at = stmts_from(node, at);
      },
      [&](const Loop& node) { loop(node); }, [&](const loops::Let& node) { let(node); },
      [&](const loops::Index& node) { index(node); }, [&](const loops::Store& node) { store(node); },
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

// A place that is not found is 0, and where there are none nothing is touched.
void Emitter::index(const loops::Index& index) {
  values_.index(index);
  facts_.assume_below(index.symbol, index.bound);
}

// All neighbours that combine across one axis.
std::vector<loops::Combine> Emitter::combines_from(const loops::Block& block, std::size_t at) {
  std::vector<loops::Combine> group;
  for (; at < block.stmts.size(); ++at) {
    const auto* combine = std::get_if<loops::Combine>(&block.stmts[at]->node);
    if (combine == nullptr || (!group.empty() && !combine_together(group.front(), *combine))) break;
    group.push_back(*combine);
  }
  return group;
}

// One statement, or neighbours that combine. Gives where the next one stands.
std::size_t Emitter::stmts_from(const loops::Block& block, std::size_t at) {
  const std::vector<loops::Combine> group = combines_from(block, at);
  if (group.empty()) {
    stmt(*block.stmts[at]);
    return at + 1;
  }
  const std::vector<loops::Combine> next = combines_from(block, at + group.size());
  if (totals_.are_scattered(group, next)) {
    totals_.combine_scattered(group, next, span_);
    return at + 2 * group.size();
  }
  totals_.combine(group, span_);
  return at + group.size();
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

// Names of the axes of a function.
std::vector<std::string> Emitter::bind(const std::vector<loops::Axis>& axes) {
  std::vector<std::string> names;
  for (const loops::Axis axis : axes) {
    names.push_back(scopes_.fresh("k"));
    indices_.bind(axis, {names.back(), scopes_.level(), false, {}});
  }
  return names;
}
std::string Emitter::parameters(const std::vector<std::string>& names) const {
  return join(names, ", ", [&](const std::string& name) { return cat(i64(), " ", name); });
}

std::string Emitter::slot(const loops::Slot& slot) {
  scopes_.open();
  const std::vector<std::string> counters = bind(slot.at);
  stmt(*slot.body);
  const Operand element = values_.value(loops::Value{loops::Read{slot.element, 0}});
  scopes_.line(cat("return ", element.text, ";"));
  const std::string name = scopes_.fresh("slot");
  scopes_.close(cat("const auto ", name, " = [&](", parameters(counters), dialect_.slot_parameters(), ")",
                    dialect_.slot_attributes(), " -> ", dialect_.type(element.dtype, element.lanes), " {"),
                "};");
  return name;
}

// A function of a place and of what the routine says there.
std::string Emitter::epilogue(const loops::Slot& slot) {
  scopes_.open();
  std::vector<std::string> names = bind(slot.at);
  names.push_back(scopes_.fresh("v"));
  values_.set_temp(slot.element, {Operand{names.back(), ops::DType::i64}});
  stmt(*slot.body);
  const std::string name = scopes_.fresh("epilogue");
  scopes_.close(cat("const auto ", name, " = [&](", parameters(names), dialect_.slot_parameters(), ")",
                    dialect_.slot_attributes(), " {"),
                "};");
  return name;
}

// A function of a place that fetches what the slots load there, as far as it lies where the place alone says.
std::string Emitter::ahead(const std::vector<loops::Slot>& slots) {
  std::vector<std::string> counters;
  scopes_.open();
  for (std::size_t k = 0; k < slots.front().at.size(); ++k) counters.push_back(scopes_.fresh("k"));
  for (const loops::Slot& slot : slots) {
    for (std::size_t k = 0; k < counters.size(); ++k)
      indices_.bind(slot.at[k], {counters[k], scopes_.level(), false, {}});
    std::set<index::Symbol> found;
    loops::for_each_stmt(*slot.body, [&](const loops::Stmt& stmt) {
      if (const auto* index = std::get_if<loops::Index>(&stmt.node)) found.insert(index->symbol);
    });
    loops::for_each_value(*slot.body, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load == nullptr || std::ranges::any_of(found, [&](index::Symbol symbol) {
            return index::mentions(load->offset, symbol);
          }))
        return;
      values_.prefetch({load->buffer, load->offset});
    });
  }
  const std::string parameters =
      join(counters, ", ", [&](const std::string& name) { return cat(i64(), " ", name); });
  const std::string name = scopes_.fresh("ahead");
  scopes_.close(cat("const auto ", name, " = [&](", parameters, ")", dialect_.slot_attributes(), " {"), "};");
  return name;
}

void Emitter::call(const loops::Call& call) {
  std::vector<std::string> arguments;
  for (const loops::Buffer buffer : call.operands) arguments.push_back(values_.buffer(buffer).name);
  if (call.routine == loops::Routine::stable_sort && !loops::has_starts(call))
    arguments.emplace_back("nullptr");
  for (const index::Expr& size : call.sizes) arguments.push_back(indices_.name(size));
  if (call.routine == loops::Routine::stable_sort && !loops::has_starts(call) && call.sizes.size() == 2)
    arguments.emplace_back("1");
  const loops::Slot* const last = loops::epilogue_of(call);
  for (const loops::Slot& inner : call.slots)
    arguments.push_back(&inner == last ? epilogue(inner) : slot(inner));
  if (call.routine == loops::Routine::sums_by_key) arguments.push_back(ahead(call.slots));
  const auto name = [&] {
    switch (call.routine) {
      case loops::Routine::stable_sort:
        return "stable_sort";
      case loops::Routine::sums_by_key:
        return "sums_by_key";
    }
    return "";
  };
  scopes_.line(cat(name(), "(", join(arguments, ", ", [](const std::string& text) { return text; }), ");"));
}

std::string emit(const loops::Program& program, const Dialect& dialect, std::string_view comment) {
  Writer writer;
  writer.line(dialect.before());
  writer.line(dialect.head(program), " {");
  {
    const Indented indented(writer);
    for (const std::string& line : Emitter(program, dialect).lines()) writer.line(line);
  }
  writer.line("}");
  writer.line(dialect.after());
  return commented(comment, writer.take());
}

std::string commented(std::string_view comment, std::string_view text) {
  Writer writer;
  comment_lines(writer, comment);
  return writer.take().append(text);
}

}  // namespace twinloom::emit
