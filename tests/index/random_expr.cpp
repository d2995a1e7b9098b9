// See random_expr.h.
#include "tests/index/random_expr.h"

#include <array>

namespace twinloom::index::testing {

namespace {

constexpr std::array counters{"i", "j", "k", "x", "y"};
constexpr std::array sizes{"n", "m", "s"};

std::int64_t number(std::mt19937_64& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

template <class Choices>
auto one_of(const Choices& choices, std::mt19937_64& random) {
  return choices[static_cast<std::size_t>(number(random, 0, static_cast<std::int64_t>(choices.size()) - 1))];
}

Expr random_size(std::mt19937_64& random) { return Expr(Symbol(one_of(sizes, random))); }

Expr random_divisor(std::mt19937_64& random) {
  switch (number(random, 0, 5)) {
    case 0:
      return random_size(random);
    case 1:
      return random_size(random) * random_size(random);
    case 2:
      return random_size(random) + Expr(number(random, 0, 2));
    default:
      return Expr(one_of(std::array<std::int64_t, 8>{1, 2, 3, 4, 6, 8, 12, 16}, random));
  }
}

Expr random_leaf(std::mt19937_64& random) {
  switch (number(random, 0, 5)) {
    case 0:
      return Expr(number(random, -9, 20));
    case 1:
      return random_size(random);
    default:
      return Expr(Symbol(one_of(counters, random)));
  }
}

Facts with_counters(Facts facts, std::mt19937_64& random) {
  for (const char* counter : counters) {
    const Symbol symbol(counter);
    switch (number(random, 0, 4)) {
      case 0:
        facts.assume_below(symbol, random_divisor(random));
        break;
      case 1:
        facts.assume(symbol, {0, number(random, 0, 15)}, number(random, 0, 3) == 0 ? 4 : 1);
        break;
      case 2:
        facts.assume(symbol, {number(random, -20, -1), number(random, 0, 30)});
        break;
      case 3:
        facts.assume_below(symbol, random_size(random));
        break;
      default:
        facts.assume(symbol, {-50, 50}, one_of(std::array<std::int64_t, 3>{1, 2, 4}, random));
        break;
    }
  }
  return facts;
}

}  // namespace

Facts random_facts(std::mt19937_64& random, bool known_sizes) {
  Facts facts;
  for (const char* size : sizes) {
    const std::int64_t high = number(random, 1, 12);
    facts.assume(Symbol(size), {known_sizes ? high : 1, high});
  }
  if (known_sizes) return with_counters(std::move(facts), random);
  if (number(random, 0, 5) == 0) facts.assume_equal(Expr(Symbol("n")), Expr(Symbol("m")));
  if (number(random, 0, 5) == 0) facts.assume_equal(Expr(Symbol("s")), Expr(Symbol("m")) + 1);
  return with_counters(std::move(facts), random);
}

Expr random_expr(std::mt19937_64& random, int depth) {
  if (depth == 0) return random_leaf(random);
  const auto inner = [&] { return random_expr(random, depth - 1); };
  switch (number(random, 0, 10)) {
    case 0:
    case 1:
      return floor_div(inner(), random_divisor(random));
    case 2:
    case 3:
      return floor_mod(inner(), random_divisor(random));
    case 4:
      return least(inner(), inner());
    case 5:
      return greatest(inner(), inner());
    case 6:
      return inner() * Expr(number(random, -8, 8));
    case 7:
      return random_leaf(random) * random_divisor(random) + inner();
    case 8: {
      const Expr dividend = inner(), divisor = random_divisor(random);
      return divisor * floor_div(dividend, divisor) + floor_mod(dividend, divisor);
    }
    default:
      return inner() + inner();
  }
}

}  // namespace twinloom::index::testing
