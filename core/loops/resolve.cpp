// Index expressions, values and names as functions over the interpreter's state. See resolve.h.
#include "core/loops/resolve.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/error.h"
#include "core/base/integers.h"

namespace twinloom::loops {

namespace {

std::int64_t fitting(std::optional<std::int64_t> value) {
  CHECK(value, "an index expression does not fit 64 bits");
  return *value;
}

// Threads without an element compute what nobody stores; where there is no element at all, its offset may be
// a quotient by their number.
std::int64_t positive(std::int64_t divisor, bool has_threads) {
  if (divisor == 0 && has_threads) return 1;
  CHECK(divisor >= 1, "an index expression is divided by ", divisor);
  return divisor;
}

}  // namespace

Resolver::Resolver(const Program& program, State& state) : program_(program), state_(state), types_(program) {
  for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* loop = std::get_if<Loop>(&stmt.node);
    if (loop == nullptr) return;
    extents_.emplace(loop->axis, loop->extent);
    has_threads_ = has_threads_ || loop->bind == Bind::thread;
  });
}

std::size_t Resolver::bind(const index::Symbol& symbol, bool from_index) {
  const auto place = places_.emplace(symbol, state_.symbols.size()).first->second;
  if (place == state_.symbols.size()) {
    state_.symbols.push_back(0);
    state_.usable.push_back(1);
  }
  if (from_index) from_index_.insert(symbol);
  symbols_[symbol] = place;
  return place;
}

std::size_t Resolver::symbol(const index::Symbol& symbol) const {
  const auto found = symbols_.find(symbol);
  CHECK(found != symbols_.end(), "the symbol ", symbol, " is not bound here");
  return found->second;
}

std::vector<std::size_t> Resolver::indices_in(const index::Expr& offset, const index::Condition& mask) const {
  std::set<index::Symbol> symbols = index::symbols_of(offset);
  symbols.merge(index::symbols_of(mask));
  std::vector<std::size_t> indices;
  for (const index::Symbol& mentioned : symbols) {
    if (from_index_.contains(mentioned)) indices.push_back(symbol(mentioned));
  }
  return indices;
}

Integer Resolver::sum(const index::Sum& sum) {
  std::vector<std::pair<Integer, std::int64_t>> terms;
  for (const index::Term& term : sum.terms) terms.emplace_back(integer(term.factor), term.scale);
  return [terms = std::move(terms), offset = sum.offset](const State& state) {
    std::int64_t total = offset;
    for (const auto& [factor, scale] : terms)
      total = fitting(checked_add(total, fitting(checked_multiply(factor(state), scale))));
    return total;
  };
}

Integer Resolver::integer(const index::Expr& expr) {
  return match(
      expr.form(),
      [&](const index::Symbol& name) -> Integer {
        return [place = symbol(name)](const State& state) { return state.symbols[place]; };
      },
      [&](const index::Sum& node) -> Integer { return sum(node); },
      [&](const index::Product& product) -> Integer {
        std::vector<Integer> factors;
        for (const index::Expr& factor : product.factors) factors.push_back(integer(factor));
        return [factors = std::move(factors)](const State& state) {
          std::int64_t total = 1;
          for (const Integer& factor : factors) total = fitting(checked_multiply(total, factor(state)));
          return total;
        };
      },
      [&](const index::FloorDiv& div) -> Integer {
        return [a = integer(div.dividend), b = integer(div.divisor), threads = has_threads_](
                   const State& state) { return twinloom::floor_div(a(state), positive(b(state), threads)); };
      },
      [&](const index::FloorMod& mod) -> Integer {
        return [a = integer(mod.dividend), b = integer(mod.divisor), threads = has_threads_](
                   const State& state) { return twinloom::floor_mod(a(state), positive(b(state), threads)); };
      },
      [&](const index::Least& least) -> Integer {
        return [a = integer(least.a), b = integer(least.b)](const State& state) {
          return std::min(a(state), b(state));
        };
      },
      [&](const index::Greatest& greatest) -> Integer {
        return [a = integer(greatest.a), b = integer(greatest.b)](const State& state) {
          return std::max(a(state), b(state));
        };
      });
}

Truth Resolver::truth(const index::Condition& condition) {
  std::vector<std::pair<Integer, Integer>> all;
  for (const index::Less& less : condition.all) all.emplace_back(integer(less.a), integer(less.b));
  return [all = std::move(all)](const State& state) {
    return std::ranges::all_of(all, [&](const auto& less) { return less.first(state) < less.second(state); });
  };
}

Element Resolver::element(const Value& value) {
  return match(
      value,
      [&](const Literal& literal) -> Element {
        Bits bits = 0;
        ops::store_number(literal.dtype, literal.value, &bits);
        return [bits](State&) { return bits; };
      },
      [&](const Count& count) -> Element {
        return [number = integer(count.expr)](State& state) { return static_cast<Bits>(number(state)); };
      },
      [&](const Read& node) -> Element { return read(node); },
      [&](const Load& node) -> Element { return load(node); },
      [&](const Apply& node) -> Element { return apply(node); },
      [&](const Convert& node) -> Element { return convert(node); });
}

Element Resolver::load(const Load& load) {
  const BufferInfo& info = program_.buffers.at(load.buffer.index);
  const std::string where = print(Value{load}, program_);
  const auto size = static_cast<std::size_t>(ops::size_of(info.dtype));
  const bool truth_value = info.dtype == ops::DType::b8;
  Bits otherwise = 0;
  ops::store_number(load.otherwise.dtype, load.otherwise.value, &otherwise);
  return [=, array = load.buffer.index, offset = integer(load.offset), mask = truth(load.mask),
          indices = indices_in(load.offset, load.mask)](State& state) {
    const bool usable = std::ranges::all_of(indices, [&](std::size_t i) { return state.usable[i] != 0; });
    if (!usable || !mask(state)) return otherwise;
    Bits bits = 0;
    std::memcpy(&bits, state.element(array, offset(state), Access::read, where), size);
    return truth_value ? Bits{bits != 0} : bits;
  };
}

Element Resolver::apply(const Apply& apply) {
  constexpr std::size_t most_inputs = 6;
  CHECK(!apply.inputs.empty() && apply.inputs.size() <= most_inputs, ops::name(apply.op), " has ",
        apply.inputs.size(), " inputs");
  std::vector<Element> inputs;
  for (const Ref<Value>& input : apply.inputs) inputs.push_back(element(*input));
  // Of a select the first input is b8, the others are of the type that it gives.
  const ops::DType dtype = type_of(*apply.inputs.back());
  CHECK(!ops::is_16_bit_float(dtype), ops::name(apply.op), " computes with ", ops::name(dtype));
  return [op = apply.op, dtype, inputs = std::move(inputs)](State& state) {
    std::array<Bits, most_inputs> elements{};
    std::array<const void*, most_inputs> addresses{};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      elements[i] = inputs[i](state);
      addresses[i] = &elements[i];
    }
    Bits result = 0;
    ops::apply_spelled(op, dtype, std::span(addresses).first(inputs.size()), &result, 1);
    return result;
  };
}

Element Resolver::convert(const Convert& convert) {
  const ops::DType from = type_of(*convert.input), to = convert.to;
  if (from == to) return element(*convert.input);
  return [from, to, input = element(*convert.input)](State& state) {
    const Bits before = input(state);
    Bits after = 0;
    ops::store_number(to, ops::cast(ops::load_number(from, &before), from, to), &after);
    return after;
  };
}

std::function<Parts(State&)> Resolver::parts(const std::vector<Ref<Value>>& values) {
  CHECK(!values.empty() && values.size() <= std::tuple_size_v<Parts>, "a total is given ", values.size(),
        " parts");
  std::vector<std::pair<Element, ops::DType>> elements;
  for (const Ref<Value>& value : values) elements.emplace_back(element(*value), type_of(*value));
  return [elements = std::move(elements)](State& state) {
    Parts parts{};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const Bits bits = elements[i].first(state);
      parts[i] = ops::load_number(elements[i].second, &bits);
    }
    return parts;
  };
}

std::size_t Resolver::define_value(Temp temp, int parts) {
  const std::size_t place = state_.values.size();
  state_.values.resize(place + static_cast<std::size_t>(parts));
  values_[temp] = place;
  return place;
}

std::size_t Resolver::make_total() {
  state_.totals.emplace_back();
  return state_.totals.size() - 1;
}

TotalForm& Resolver::total(Temp temp) {
  const auto found = totals_.find(temp);
  CHECK(found != totals_.end(), "t", temp.index, " is no total here");
  return *found->second;
}

Integer Resolver::cell(const TotalForm& form) {
  std::vector<CopyAxis> copies = form.copies;
  for (const CopyAxis& copy : copies)
    CHECK(is_bound(copy.axis), "a total with copies along ", copy.axis, " is used outside that loop");
  const std::int64_t depth = std::max(form.depth, 1);
  return [copies = std::move(copies), place = form.place, depth](const State& state) {
    const Total& total = state.totals[place];
    std::int64_t cell = 0;
    for (const CopyAxis& copy : copies) {
      const std::int64_t member = state.symbols[copy.symbol];
      CHECK(member < total.extents[copy.position], "a total has no copy for ", copy.axis, " = ", member);
      cell += member * total.strides[copy.position];
    }
    return cell * depth;
  };
}

Element Resolver::read(const Read& read) {
  const auto part = static_cast<std::size_t>(read.part);
  const ops::DType dtype = types_.of(read.temp, read.part);
  if (const auto value = values_.find(read.temp); value != values_.end())
    return [place = value->second + part](State& state) { return state.values[place]; };
  const TotalForm& form = total(read.temp);
  CHECK(form.depth == 0, "the stack t", read.temp.index, " is read");
  return
      [=, place = form.place, combine = form.combine, filled = form.filled, cell = cell(form)](State& state) {
        Total& total = state.totals[place];
        Bits bits = 0;
        const auto give = [&](const Parts& parts) { ops::store_number(dtype, parts[part], &bits); };
        switch (filled) {
          case TotalForm::Filled::literally:
            give(total.cells[static_cast<std::size_t>(cell(state))]);
            break;
          case TotalForm::Filled::accumulated:
            give(total.reduction(cell(state)).result(combine));
            break;
          case TotalForm::Filled::scanned:
            give(total.prefixes.result(combine));
            break;
        }
        return bits;
      };
}

void Resolver::leave(Names names) {
  symbols_ = std::move(names.symbols);
  totals_ = std::move(names.totals);
  values_ = std::move(names.values);
}

}  // namespace twinloom::loops
