// See inside.h. What is asked of a place is brought into the form a < b without a division on top,
//   floor_div(x, d) + r < size    ->    x + d*r < d*size
// and is then tried in three ways: with the ends of both sides, with the prover over axes and sizes, and as
// what is left of a condition that holds. The need, where all fail, is that of the ends.
#include "core/graph/inside.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>

#include "core/base/error.h"
#include "core/base/match.h"
#include "core/graph/at_least.h"
#include "core/graph/ends.h"

namespace twinloom::graph {

namespace {

using index::Expr;
using index::Less;

constexpr std::int64_t LARGEST = std::int64_t{1} << 62;
constexpr std::int64_t LARGE_FACTOR = std::int64_t{1} << 31;

// Calls visit(part) for the expression and all its parts until it returns true.
template <class Visit>
bool any_part(const Expr& expr, const Visit& visit) {
  if (visit(expr)) return true;
  const auto either = [&](const Expr& a, const Expr& b) { return any_part(a, visit) || any_part(b, visit); };
  return match(
      expr.form(), [](const index::Symbol&) { return false; },
      [&](const index::Sum& sum) {
        return std::ranges::any_of(sum.terms,
                                   [&](const index::Term& term) { return any_part(term.factor, visit); });
      },
      [&](const index::Product& product) {
        return std::ranges::any_of(product.factors,
                                   [&](const Expr& factor) { return any_part(factor, visit); });
      },
      [&](const index::FloorDiv& div) { return either(div.dividend, div.divisor); },
      [&](const index::FloorMod& mod) { return either(mod.dividend, mod.divisor); },
      [&](const index::Least& least) { return either(least.a, least.b); },
      [&](const index::Greatest& greatest) { return either(greatest.a, greatest.b); });
}

// A sum whose value is suspected to leave 64 bits.
bool has_large_number(const Expr& expr) {
  const auto* sum = std::get_if<index::Sum>(&expr.form().node);
  if (sum == nullptr || sum->terms.empty()) return false;
  return sum->offset >= LARGEST / 2 || sum->offset <= -LARGEST / 2 ||
         std::ranges::any_of(sum->terms, [](const index::Term& term) {
           return term.scale >= LARGE_FACTOR || term.scale <= -LARGE_FACTOR;
         });
}

bool condition_has_large_number(const IndexMap& map) {
  return std::ranges::any_of(map.inside.all, [](const Less& less) {
    return any_part(less.a, has_large_number) || any_part(less.b, has_large_number);
  });
}

void collect_divisors(const Expr& expr, std::vector<Expr>& divisors) {
  any_part(expr, [&](const Expr& part) {
    const auto* div = std::get_if<index::FloorDiv>(&part.form().node);
    const auto* mod = std::get_if<index::FloorMod>(&part.form().node);
    if (div == nullptr && mod == nullptr) return false;
    const Expr& divisor = div != nullptr ? div->divisor : mod->divisor;
    if (!index::constant_of(divisor)) divisors.push_back(divisor);
    return false;
  });
}

bool is_plainly_inside(const IndexMap& map, const Expr& place, const Expr& size) {
  const auto known_size = index::constant_of(size);
  if (const auto known = index::constant_of(place)) return known_size && *known >= 0 && *known < *known_size;
  const auto symbol = index::symbol_of(place);
  if (!symbol) return false;
  const auto found = std::ranges::find(map.symbols, *symbol);
  if (found == map.symbols.end()) return false;
  const Expr& extent = map.sizes[static_cast<std::size_t>(found - map.symbols.begin())];
  if (extent == size) return true;
  const auto known_extent = index::constant_of(extent);
  return known_extent && known_size && *known_extent <= *known_size;
}

// The facts where the map looks at anything: then no size is 0.
index::Facts facts_of_something(const Graph& graph, const Shape& sizes) {
  index::Facts facts = graph.facts();
  for (const Expr& size : sizes) assume_at_least(facts, size, 1);
  for (const auto& [kept, replaced] : graph.facts().equalities()) {
    for (const auto& [one, other] : {std::pair(kept, replaced), std::pair(replaced, kept)})
      if (facts.proves_less(0, one)) assume_at_least(facts, other, 1);
  }
  return facts;
}

// Products of size symbols: they are 0 only where a size is, and such sizes have kernels of their own.
bool is_product_of_symbols(const Expr& expr) {
  return match(
      expr.form(), [](const index::Symbol&) { return true; },
      [](const index::Sum& sum) {
        return sum.offset == 0 && sum.terms.size() == 1 && sum.terms[0].scale > 0 &&
               is_product_of_symbols(sum.terms[0].factor);
      },
      [](const index::Product& product) {
        return std::ranges::all_of(product.factors, is_product_of_symbols);
      },
      [](const index::FloorDiv&) { return false; }, [](const index::FloorMod&) { return false; },
      [](const index::Least&) { return false; }, [](const index::Greatest&) { return false; });
}

// The same with what is taken away on the other side, as a person writes it: k - 1 < n  ->  k < n + 1.
Less without_negatives(const Less& less) {
  const Expr gap = less.b - less.a;
  const auto* sum = std::get_if<index::Sum>(&gap.form().node);
  if (sum == nullptr) return {0, gap};
  Less result{sum->offset < 0 ? -Expr(sum->offset) : Expr(0), sum->offset > 0 ? Expr(sum->offset) : Expr(0)};
  for (const index::Term& term : sum->terms) {
    Expr& side = term.scale < 0 ? result.a : result.b;
    side = side + term.factor * (term.scale < 0 ? -Expr(term.scale) : Expr(term.scale));
  }
  return result;
}

// 0 < size, without a factor that all its terms have: 2*n - 2*m is at least 1 only where n - m is.
Less is_something(const Expr& size) {
  const auto* sum = std::get_if<index::Sum>(&size.form().node);
  if (sum == nullptr) return {0, size};
  std::int64_t common = sum->offset == std::numeric_limits<std::int64_t>::min() ? 1 : std::abs(sum->offset);
  for (const index::Term& term : sum->terms) common = std::gcd(common, term.scale);
  return {0, common > 1 ? index::floor_div(size, common) : size};
}

// How often the terms of `part` stand in `whole`; at least 1.
std::int64_t times_in(const Expr& whole, const Expr& part) {
  const auto* wholes = std::get_if<index::Sum>(&whole.form().node);
  const auto* parts = std::get_if<index::Sum>(&part.form().node);
  if (wholes == nullptr || parts == nullptr || parts->terms.empty()) return 1;
  const index::Term& first = parts->terms[0];
  const auto same = std::ranges::find_if(
      wholes->terms, [&](const index::Term& term) { return term.factor == first.factor; });
  if (same == wholes->terms.end() || same->scale == std::numeric_limits<std::int64_t>::min()) return 1;
  return std::max<std::int64_t>(same->scale / first.scale, 1);
}

bool has_no_elements(const IndexMap& map) {
  const auto axes = std::span(map.sizes).first(map.sizes.size() - map.found);
  return std::ranges::any_of(axes, [](const Expr& size) { return size == Expr(0); });
}

// No index is below 0: what mentions it is not looked at. What does not may be read before the index is.
bool mentions_what_is_never_found(const IndexMap& map, const Expr& place) {
  for (std::size_t k = map.sizes.size() - map.found; k < map.sizes.size(); ++k)
    if (map.sizes[k] == Expr(0) && index::mentions(place, map.symbols[k])) return true;
  return false;
}

bool is_of_nothing(const IndexMap& map) { return index::never_holds(map.inside) || has_no_elements(map); }

class Proof {
 public:
  Proof(const Graph& graph, const IndexMap& map)
      : graph_(graph), map_(map), something_(facts_of_something(graph, map.sizes)) {
    for (std::size_t k = 0; k < map.symbols.size(); ++k)
      whole_.insert_or_assign(map.symbols[k], Ends{0, map.sizes[k] - 1});
    for (const Expr& size : map.sizes)
      if (!index::constant_of(size) && !index::symbol_of(size)) known_.push_back(is_something(size));
    ends_ = whole_;
  }

  // From here on only where the map looks at something. What decides that, and every divisor, is computed
  // elsewhere too.
  void where_inside() {
    over_axes_.reset();
    is_inside_ = true;
    for (const Less& less : map_.inside.all) known_.push_back(without_division(less));
    ends_ = narrowed(whole_, map_.inside && index::Condition{known_}, something_);
    for (const auto& [part, ends] : ends_) {
      const Expr positions = ends.high - ends.low + 1;
      if (index::constant_of(positions)) continue;
      assume_at_least(something_, positions, 1);
      known_.push_back(is_something(positions));
    }
  }

  void divisor(const Expr& divisor) {
    if (mentions_any(divisor, whole_))
      throw Error(cat("it divides by ", divisor, ", which changes along an axis"));
    const Need need{{}, Risk::division, divisor};
    const std::size_t before = needs_.size();
    // Sizes of 0 have kernels of their own, in which no position is inside.
    const bool may_be_zero = is_product_of_symbols(divisor);
    const bool is_everywhere = map_.inside.all.empty() && !has_no_elements(map_);
    if (is_everywhere || !may_be_zero) prove({0, divisor}, need);
    if (may_be_zero || needs_.size() > before) return;
    always_ = true;  // in such kernels too it is not negative
    prove({-1, divisor}, need);
    always_ = false;
  }

  void size_divisor(const Expr& divisor) { prove({0, divisor}, {{}, Risk::division, divisor}); }
  void size(const Expr& size) { not_negative(size, {{}, Risk::negative, size}); }

  void place(std::size_t k) {
    const Expr& place = map_.places[k];
    const Need need{{}, Risk::outside, place, k};
    // What no axis changes is read in front of the loops, also where they have no iterations. (A place that
    // is a number is then masked.)
    always_ = !mentions_any(place, whole_) && !index::constant_of(place);
    below(place, map_.into[k], need);
    not_negative(place, need);
    fits(place);
  }

  // Whether an element is looked at is decided in 64 bits.
  void condition() {
    for (const Less& less : map_.inside.all) {
      fits(less.a);
      fits(less.b);
    }
  }

  std::vector<Need> take() { return std::move(needs_); }

 private:
  void below(const Expr& place, const Expr& bound, const Need& need) {
    if (const auto* greatest = std::get_if<index::Greatest>(&place.form().node)) {
      below(greatest->a, bound, need);
      below(greatest->b, bound, need);
    } else {
      prove(without_division({place, bound}), need);
    }
  }

  void not_negative(const Expr& place, const Need& need) {
    if (const auto* least = std::get_if<index::Least>(&place.form().node)) {
      not_negative(least->a, need);
      not_negative(least->b, need);
    } else {
      prove(without_division({-1, place}), need);
    }
  }

  void prove(const Less& wanted, const Need& need) {
    const Less worst{ends_of(wanted.a, ends_, something_).high, ends_of(wanted.b, ends_, something_).low};
    const index::Facts& facts = always_ ? graph_.facts() : something_;
    if (facts.proves_less(worst.a, worst.b) || follows(worst)) return;
    if (!always_ && (over_axes().proves_less(wanted.a, wanted.b) || follows(wanted))) return;
    ask(worst, need);
  }

  void ask(const Less& condition, Need need) {
    need.condition = {{without_negatives(condition)}};
    needs_.push_back(std::move(need));
  }

  // Each part of it, also where nothing is looked at. Ends that are numbers were found without leaving 64
  // bits. Of others only large numbers are suspected.
  void fits(const Expr& expr) {
    any_part(expr, [&](const Expr& part) {
      const Ends ends = ends_of(part, whole_, something_);
      if (!has_large_number(part)) return false;
      for (const Less& less : {Less{-LARGEST, ends.low}, Less{ends.high, LARGEST}})
        if (!something_.proves_less(less.a, less.b)) ask(less, {{}, Risk::overflow, part});
      return false;
    });
  }

  // Whether it is left of a known condition c < d: b - a >= t*(d - c) >= 1 for a t >= 1.
  bool follows(const Less& wanted) {
    const auto from = [&](const Less& known) {
      const Expr gap = wanted.b - wanted.a, known_gap = known.b - known.a;
      const Expr more = gap - known_gap * Expr(times_in(gap, known_gap));
      if (always_) return graph_.facts().proves_less(-1, more);
      return something_.proves_less(-1, ends_of(more, ends_, something_).low) ||
             over_axes().proves_less(-1, more);
    };
    const std::set<index::Symbol> symbols = index::symbols_of(index::Condition{{wanted}});
    const auto speaks_of_them = [&](const Less& known) {
      return std::ranges::any_of(index::symbols_of(index::Condition{{known}}),
                                 [&](index::Symbol symbol) { return symbols.contains(symbol); });
    };
    const auto serves = [&](const Less& known) { return speaks_of_them(known) && from(known); };
    return (!always_ && std::ranges::any_of(known_, serves)) ||
           std::ranges::any_of(graph_.requirements(), [&](const Require& require) {
             return std::ranges::any_of(require.condition.all, serves);
           });
  }

  const index::Facts& over_axes() {
    if (!over_axes_) {
      over_axes_ = axis_facts(something_, map_.symbols, map_.sizes);
      if (is_inside_) over_axes_ = facts_where(*over_axes_, map_.inside);
    }
    return *over_axes_;
  }

  const Graph& graph_;
  const IndexMap& map_;
  index::Facts something_;
  std::optional<index::Facts> over_axes_;
  bool is_inside_ = false;  // see where_inside()
  bool always_ = false;     // what is asked must hold also where nothing is looked at
  PartEnds whole_, ends_;   // everywhere, and where something is looked at
  std::vector<Less> known_;
  std::vector<Need> needs_;
};

std::vector<Expr> divisors_of(const IndexMap& map) {
  std::vector<Expr> divisors;
  for (const Expr& place : map.places) collect_divisors(place, divisors);
  for (const Less& less : map.inside.all) {
    collect_divisors(less.a, divisors);
    collect_divisors(less.b, divisors);
  }
  return divisors;
}

}  // namespace

std::vector<Need> needs_of(const Graph& graph, const IndexMap& map) {
  const std::vector<Expr> divisors = divisors_of(map);
  if (is_of_nothing(map) && divisors.empty()) return {};
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < map.places.size(); ++k) {
    const bool is_safe = is_plainly_inside(map, map.places[k], map.into[k]) ||
                         mentions_what_is_never_found(map, map.places[k]);
    if (!is_safe) left.push_back(k);
  }
  if (left.empty() && divisors.empty() && !condition_has_large_number(map)) return {};
  Proof proof(graph, map);
  for (const Expr& divisor : divisors) proof.divisor(divisor);
  if (is_of_nothing(map)) return proof.take();
  proof.condition();
  proof.where_inside();
  for (const std::size_t k : left) proof.place(k);
  return proof.take();
}

std::vector<Need> needs_of(const Graph& graph, const Expr& size) {
  if (index::constant_of(size) || index::symbol_of(size)) return {};
  const std::vector<Expr> divisors = divisors_in(size);
  if (divisors.empty() && graph.facts().proves_less(-1, size)) return {};
  const IndexMap no_map;
  Proof proof(graph, no_map);
  for (const Expr& divisor : divisors) proof.size_divisor(divisor);
  proof.size(size);
  return proof.take();
}

index::Facts axis_facts(const index::Facts& of_sizes, std::span<const index::Symbol> axes,
                        std::span<const Expr> sizes) {
  index::Facts facts = of_sizes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const index::Range size = of_sizes.range(sizes[k]);
    if (size.high && *size.high < 1) continue;  // nothing is looked at
    index::Range range{0, {}};
    if (size.high) range.high = *size.high - 1;
    facts.assume(axes[k], range);
    if (!index::constant_of(sizes[k])) facts.assume_below(axes[k], sizes[k]);
  }
  return facts;
}

index::Facts facts_where(index::Facts facts, const index::Condition& condition) {
  for (const Less& less : condition.all) {
    const auto left = index::symbol_of(less.a);
    const auto right = index::symbol_of(less.b);
    const auto low = index::constant_of(less.a);
    const auto high = index::constant_of(less.b);
    if (left && high) facts.assume(*left, {{}, *high - 1});
    if (right && low) facts.assume(*right, {*low + 1, {}});
    if (left && !high) facts.assume_below(*left, less.b);
  }
  return facts;
}

std::vector<Expr> divisors_in(const Expr& expr) {
  std::vector<Expr> divisors;
  collect_divisors(expr, divisors);
  return divisors;
}

}  // namespace twinloom::graph
