// The loop form as text; README.md has the grammar. parse.cpp reads it back.
//   for k < m {
//     t0 += mul(x[i*m + k], (w[k] if k < n else 0x0p+0:f32)) at k
//   }
#include "core/base/text.h"
#include "core/loops/printed.h"

namespace twinloom::loops {

namespace {

std::string print_temp(Temp temp) { return cat("t", temp.index); }

std::string print_literal(const Literal& literal) {
  return cat(ops::print(literal.value), ":", ops::name(literal.dtype));
}

std::string print_if(const index::Condition& mask) { return mask.all.empty() ? "" : cat(" if ", mask); }

std::string print_axes(const std::vector<Axis>& axes) {
  return cat("(", join(axes, ", ", [](const Axis& axis) { return axis.name(); }), ")");
}

std::string print_sizes(const std::vector<index::Expr>& sizes) {
  return cat("(", join(sizes, ", ", [](const index::Expr& size) { return index::print(size); }), ")");
}

std::string print_buffer(const BufferInfo& info) {
  return cat(info.name, ": ", info.local ? "local " : "", info.written ? "written " : "",
             info.streamed ? "streamed " : "", ops::name(info.dtype), "[", info.count, "]");
}

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  Printed run() {
    const std::string buffers = join(program_.buffers, ", ", print_buffer);
    const std::string sizes =
        join(program_.sizes, ", ", [](const SizeInfo& size) { return loops::print(size); });
    line("program ", program_.name, "(", buffers, sizes.empty() ? "" : "; ", sizes, ")",
         program_.outermost_fastest ? " outermost_fastest" : "", program_.library ? " library" : "", " {");
    body(*program_.body);
    line("}");
    return {writer_.take(), std::move(lines_)};
  }

  std::string value(const Value& value) const {
    return match(
        value, [](const Literal& literal) { return print_literal(literal); },
        [](const Count& count) { return cat("count(", count.expr, ")"); },
        [](const Read& read) {
          return read.part == 0 ? print_temp(read.temp) : cat(print_temp(read.temp), ".", read.part);
        },
        [&](const Load& node) { return load(node); },
        [&](const Apply& apply) { return cat(ops::name(apply.op), "(", list(apply.inputs), ")"); },
        [&](const Convert& convert) {
          return cat(ops::name(convert.to), "(", this->value(*convert.input), ")");
        });
  }

 private:
  std::string buffer(Buffer id) const {
    // A name for a buffer that does not exist, so that verify() can show the line.
    return id.index < program_.buffers.size() ? program_.buffers[id.index].name : cat("unknown_", id.index);
  }

  std::string element(Buffer id, const index::Expr& offset) const {
    return cat(buffer(id), "[", offset, "]");
  }

  std::string load(const Load& load) const {
    const std::string place = element(load.buffer, load.offset);
    const Literal zero = zero_of(load.otherwise.dtype);
    const bool plain = load.otherwise.value == zero.value && load.buffer.index < program_.buffers.size() &&
                       program_.buffers[load.buffer.index].dtype == load.otherwise.dtype;
    if (load.mask.all.empty() && plain) return place;
    return cat("(", place, print_if(load.mask), " else ", print_literal(load.otherwise), ")");
  }

  std::string list(const std::vector<Ref<Value>>& values) const {
    return join(values, ", ", [&](const Ref<Value>& item) { return value(*item); });
  }

  template <class... Values>
  void line(const Values&... values) {
    ++line_;
    writer_.line(values...);
  }

  void body(const Stmt& stmt) {
    const Indented indented(writer_);
    print(stmt);
  }

  // `head` {, the body and }.
  void enclose(const std::string& head, const Stmt& stmt) {
    line(head, " {");
    body(stmt);
    line("}");
  }

  void print(const Stmt& stmt) {
    if (const auto* block = std::get_if<Block>(&stmt.node)) {
      for (const Ref<Stmt>& inner : block->stmts) print(*inner);
      return;
    }
    lines_.push_back(line_ + 1);
    match(
        stmt, [](const Block&) {}, [&](const Sync&) { line("sync"); }, [&](const Loop& node) { print(node); },
        [&](const Let& let) { line(print_temp(let.temp), " = ", value(*let.value)); },
        [&](const Index& node) { print(node); }, [&](const Store& node) { print(node); },
        [&](const Start& node) { print(node); },
        [&](const Accumulate& node) {
          line(print_temp(node.total), " += ", list(node.values), " at ", node.place, print_if(node.mask));
        },
        [&](const Scan& node) { print(node); },
        [&](const Merge& node) {
          line("merge ", print_temp(node.total), node.product ? " product (" : " (", list(node.values), ")",
               print_if(node.mask));
        },
        [&](const Combine& node) {
          line("combine ", print_temp(node.total), " across ", node.across, " ", name(node.pairing));
        },
        [&](const Push& node) { print(node); },
        [&](const Fold& node) {
          line("fold ", print_temp(node.result), " = ", print_temp(node.stack), " of ", node.count);
        },
        [&](const Prefix& node) { print(node); }, [&](const Scratch& node) { print(node); },
        [&](const Prefetch& node) {
          line("prefetch ", element(node.buffer, node.offset),
               node.count == index::Expr(1) ? "" : cat(" count ", node.count), node.written ? " written" : "",
               print_if(node.mask));
        },
        [&](const LastBlock& node) { print(node); }, [&](const Call& node) { print(node); });
  }

  void print(const Loop& loop) {
    const std::string bind = loop.bind == Bind::serial ? "" : cat(" ", name(loop.bind));
    enclose(cat("for ", loop.axis, " < ", loop.extent, bind), *loop.body);
  }

  void print(const Index& node) {
    line("index ", node.symbol, " = ", value(*node.value), " below ", node.bound,
         node.negative_wraps ? " wraps" : "", print_if(node.mask),
         node.node < 0 ? std::string() : cat(" node ", node.node));
  }

  void print(const Store& store) {
    const std::string verb = store.update == Update::replace ? "=" : std::string(name(store.update));
    line(element(store.buffer, store.offset), " ", verb, " ", value(*store.value), print_if(store.mask));
  }

  void print(const Start& start) {
    line("start ", print_temp(start.total), ": ", ops::name(start.monoid), " ", ops::name(start.element),
         start.copies.empty() ? "" : cat(" copies ", print_axes(start.copies)),
         start.depth == 0 ? "" : cat(" depth ", start.depth), start.free ? " free" : "",
         start.folded ? " folded" : "");
  }

  void print(const Scan& scan) {
    line("scan ", print_temp(scan.result), " = ", print_temp(scan.total), " (", list(scan.values), ") at ",
         scan.place, scan.exclusive ? " exclusive" : "");
  }

  void print(const Push& push) {
    line("push ", print_temp(push.unit), " onto ", print_temp(push.stack), " at ", push.number,
         print_if(push.mask));
  }

  void print(const Prefix& prefix) {
    line("prefix ", print_temp(prefix.before), ", ", print_temp(prefix.all), " = ", print_temp(prefix.total),
         " across ", prefix.across);
  }

  void print(const Scratch& scratch) {
    enclose(cat("scratch ", element(scratch.buffer, scratch.count), " in ", name(scratch.place)),
            *scratch.body);
  }

  void print(const LastBlock& last) {
    enclose(cat("last_block ", element(last.counter, last.offset), " among ", print_axes(last.among)),
            *last.body);
  }

  void print(const Call& call) {
    const std::string operands = join(call.operands, ", ", [&](Buffer id) { return buffer(id); });
    line("call ", name(call.routine), "(", operands, ") sizes ", print_sizes(call.sizes), " {");
    writer_.indent();
    for (const Slot& slot : call.slots)
      enclose(cat("slot ", print_temp(slot.element), " at ", print_axes(slot.at)), *slot.body);
    writer_.dedent();
    line("}");
  }

  const Program& program_;
  Writer writer_;
  std::vector<int> lines_;
  int line_ = 0;
};

}  // namespace

std::string print(const SizeInfo& info) {
  const auto bound = [](std::optional<std::int64_t> value) { return value ? cat(*value) : std::string(); };
  const std::string divisor = info.divisor == 1 ? "" : cat(" % ", info.divisor);
  const std::string usual = info.usual ? cat(" ~ ", *info.usual) : "";
  return cat(info.symbol, " in ", bound(info.range.low), "..", bound(info.range.high), divisor, usual);
}

Printed print_with_lines(const Program& program) { return Printer(program).run(); }
std::string print(const Program& program) { return print_with_lines(program).text; }
std::string print(const Value& value, const Program& program) { return Printer(program).value(value); }

}  // namespace twinloom::loops
