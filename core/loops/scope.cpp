// The rules of names and values. See scope.h.
#include "core/loops/scope.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace twinloom::loops {

namespace {

Program without_body(Program program) {
  program.body = block({});
  return program;
}

bool only_stored(ops::DType dtype) { return ops::compute_type(dtype) != dtype; }

bool has_thread_loops(const Stmt& stmt) {
  bool found = false;
  for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* loop = std::get_if<Loop>(&inner.node);
    found = found || (loop != nullptr && loop->bind == Bind::thread);
  });
  return found;
}

void check_literal(const Literal& literal) {
  CHECK(ops::cast(literal.value, literal.dtype) == literal.value, "the literal ", ops::print(literal.value),
        " is not of the type ", ops::name(literal.dtype));
}

}  // namespace

Scope::Scope(const Program& program) : program_(program), head_(without_body(program)), types_(head_) {
  open();
  for (const SizeInfo& size : program.sizes) {
    CHECK(!has(size.symbol), "the size ", size.symbol, " is listed twice");
    CHECK(size.divisor >= 1, "the size ", size.symbol, " has the divisor ", size.divisor);
    define_symbol(size.symbol);
  }
}

void Scope::close() {
  for (const index::Symbol& symbol : opened_.back().symbols) symbols_.erase(symbol);
  for (const Temp temp : opened_.back().temps) temps_.erase(temp);
  opened_.pop_back();
}

void Scope::enter(const Loop& loop, int turn) {
  open();
  define_symbol(loop.axis);
  levels_.push_back({loop.axis, loop.bind, turn});
}

void Scope::leave() {
  levels_.pop_back();
  close();
}

bool Scope::inside(Bind bind) const {
  return std::ranges::any_of(levels_, [&](const Level& level) { return level.bind == bind; });
}

void Scope::define_symbol(const index::Symbol& symbol) {
  CHECK(symbols_.insert(symbol).second, "the symbol ", symbol, " is bound already");
  opened_.back().symbols.push_back(symbol);
}

void Scope::hide(const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) symbols_.erase(axis);
}
void Scope::reveal(const std::vector<Axis>& axes) { symbols_.insert(axes.begin(), axes.end()); }

void Scope::check(const index::Expr& expr) const {
  for (const index::Symbol& symbol : index::symbols_of(expr))
    CHECK(has(symbol), "the symbol ", symbol, " is not bound here");
}

void Scope::check(const index::Condition& condition) const {
  for (const index::Symbol& symbol : index::symbols_of(condition))
    CHECK(has(symbol), "the symbol ", symbol, " of a mask is not bound here");
}

void Scope::define(const Stmt& stmt, Temp temp, TempFacts facts) {
  CHECK(ever_defined_.insert(temp).second, "t", temp.index, " is defined twice");
  facts.levels = levels_;
  types_.define(stmt);
  temps_.emplace(temp, std::move(facts));
  opened_.back().temps.push_back(temp);
}

TempFacts& Scope::facts(Temp temp, TempKind kind) {
  const auto found = temps_.find(temp);
  CHECK(found != temps_.end(), "t", temp.index, " is not defined here");
  constexpr std::array words = {"a value", "a total", "a stack"};
  CHECK(found->second.kind == kind, "t", temp.index, " is not ", words.at(static_cast<std::size_t>(kind)));
  return found->second;
}

void Scope::check_one_copy(Temp temp, const TempFacts& facts) const {
  for (const Axis& axis : facts.copies)
    CHECK(has(axis), "t", temp.index, " has copies along ", axis, " and is used outside that loop");
}

void Scope::check_own_copy(Temp temp, TempKind kind) {
  const TempFacts& own = facts(temp, kind);
  check_one_copy(temp, own);
  for (std::size_t i = own.levels.size(); i < levels_.size(); ++i) {
    const bool one_by_one = levels_[i].bind == Bind::serial || levels_[i].bind == Bind::unroll;
    CHECK(one_by_one || std::ranges::count(own.copies, levels_[i].axis) == 1, "t", temp.index,
          " has no copies along ", levels_[i].axis, ", whose turns run together");
  }
}

int Scope::way_from(const TempFacts& facts) const {
  const std::size_t depth = facts.levels.size();
  return levels_.size() > depth ? levels_[depth].turn : -1;
}

void Scope::declare(const Scratch& scratch) {
  const BufferInfo& info = program_.buffers.at(scratch.buffer.index);
  CHECK(info.local, "the buffer ", info.name, " of a scratch is not local");
  const bool in_threads =
      scratch.place == Place::registers && !inside(Bind::thread) && has_thread_loops(*scratch.body);
  CHECK(locals_.emplace(scratch.buffer, in_threads).second, "the buffer ", info.name,
        " is declared inside its own scratch");
}

const BufferInfo& Scope::buffer(Buffer buffer) const {
  CHECK(buffer.index < program_.buffers.size(), "there is no buffer ", buffer.index);
  const BufferInfo& info = program_.buffers[buffer.index];
  const auto local = locals_.find(buffer);
  CHECK(!info.local || local != locals_.end(), "the local buffer ", info.name,
        " is used outside its scratch");
  CHECK(!info.local || !local->second || inside(Bind::thread), "the array ", info.name,
        " in the registers of each thread is used outside thread loops");
  return info;
}

ops::DType Scope::check(const Value& value) {
  return match(
      value,
      [](const Literal& literal) {
        check_literal(literal);
        return literal.dtype;
      },
      [&](const Count& count) {
        check(count.expr);
        return ops::DType::i64;
      },
      [&](const Read& read) {
        check_read(read.temp);
        return types_.of(read.temp, read.part);
      },
      [&](const Load& load) { return check(load); }, [&](const Apply& apply) { return check(apply); },
      [&](const Convert& convert) {
        check(*convert.input);
        return convert.to;
      });
}

void Scope::check_read(Temp temp) {
  const auto found = temps_.find(temp);
  CHECK(found != temps_.end(), "t", temp.index, " is read where it is not defined");
  TempFacts& facts = found->second;
  CHECK(facts.kind != TempKind::stack, "the stack t", temp.index, " is read");
  check_one_copy(temp, facts);
  const int way = way_from(facts);
  CHECK(!facts.filled_in || way == -1 || *facts.filled_in != way, "t", temp.index,
        " is read inside the loop that accumulates it");
  facts.read_in.insert(way);
}

ops::DType Scope::check(const Load& load) {
  const BufferInfo& info = buffer(load.buffer);
  check(load.offset);
  check(load.mask);
  check_literal(load.otherwise);
  CHECK(!info.streamed, "a load from ", info.name, ", which is streamed");
  CHECK(load.otherwise.dtype == info.dtype, "a load of ", info.name, " gives ",
        ops::name(load.otherwise.dtype), " outside its mask, the buffer has ", ops::name(info.dtype));
  return info.dtype;
}

ops::DType Scope::check(const Apply& apply) {
  std::vector<ops::DType> inputs;
  for (const Ref<Value>& input : apply.inputs) inputs.push_back(check(*input));
  const auto types = [&] { return join(inputs, ", ", [](ops::DType dtype) { return ops::name(dtype); }); };
  CHECK(std::ranges::none_of(inputs, only_stored), ops::name(apply.op), " computes with ", types(),
        ": such a value may only be converted or stored");
  CHECK(std::cmp_equal(inputs.size(), ops::arity(apply.op)) && ops::result_type(apply.op, inputs),
        ops::name(apply.op), " does not take (", types(), ")");
  return *ops::result_type(apply.op, inputs);
}

void Scope::check_parts(Temp total, const std::vector<Ref<Value>>& values) {
  CHECK(std::cmp_equal(values.size(), parts(total)), "t", total.index, " has ", parts(total),
        " parts and is given ", values.size());
  for (std::size_t part = 0; part < values.size(); ++part) {
    const ops::DType given = check(*values[part]);
    const ops::DType wanted = type(total, static_cast<int>(part));
    CHECK(given == wanted, "part ", part, " of t", total.index, " is ", ops::name(wanted), " and is given ",
          ops::name(given));
  }
}

void Scope::check_factors(Temp total, const std::vector<Ref<Value>>& values) {
  CHECK(values.size() == 2 && parts(total) == 1, "a product of ", values.size(), " factors for t",
        total.index);
  const ops::DType wanted = type(total, 0);
  CHECK(wanted == ops::DType::f32 || wanted == ops::DType::f64, "a product for t", total.index, ", which is ",
        ops::name(wanted));
  for (const Ref<Value>& value : values) {
    const ops::DType given = check(*value);
    CHECK(given == wanted, "t", total.index, " is ", ops::name(wanted), " and is given a factor of ",
          ops::name(given));
  }
}

}  // namespace twinloom::loops
