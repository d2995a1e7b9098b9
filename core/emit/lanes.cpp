// The part of Indices that knows of the vector axis: expressions with one value a lane, and masks.
#include "core/base/error.h"
#include "core/emit/indices.h"

namespace twinloom::emit {

using index::Expr;

bool Indices::varies(const Expr& expr) const {
  if (!vector_) return false;
  for (const index::Symbol symbol : index::symbols_of(expr))
    if (symbol == vector_->axis || bound(symbol).varying) return true;
  return false;
}

Along Indices::along(const Expr& given) const {
  const Expr expr = here(given);
  if (!varies(expr)) return {Along::Kind::uniform, 0, expr};
  const auto linear = index::linear_in(expr, vector_->axis);
  if (!linear || varies(linear->scale) || varies(linear->rest)) return {Along::Kind::general, 0, expr};
  return {Along::Kind::linear, linear->scale, linear->rest};
}

std::optional<Parts> Indices::parts(const Expr& given) const {
  constexpr int LEAST = 4;  // neighbours of a part: fewer are not worth a load of their own
  const Expr expr = here(given);
  if (!vector_ || vectors_.apart(lanes())) return std::nullopt;
  for (const index::Symbol symbol : index::symbols_of(expr))
    if (symbol != vector_->axis && bound(symbol).varying) return std::nullopt;
  const auto place = [&](int lane) { return index::substitute(expr, {{vector_->axis, Expr(lane)}}); };
  const Expr first = place(0);
  std::vector<std::int64_t> places;
  for (int lane = 0; lane < lanes(); ++lane) {
    const auto distance = index::constant_of(place(lane) - first);
    if (!distance) return std::nullopt;
    places.push_back(*distance);
  }
  for (int count = 2; lanes() / count >= LEAST; count *= 2) {
    for (const bool in_turn : {true, false}) {
      const int each = lanes() / count, second = in_turn ? 1 : each;
      const std::int64_t apart = places[static_cast<std::size_t>(second)];
      const auto is_there = [&](int lane) {
        const std::int64_t part = in_turn ? lane % count : lane / each,
                           at = in_turn ? lane / count : lane % each;
        return places[static_cast<std::size_t>(lane)] == part * apart + at;
      };
      bool all = lanes() % count == 0;
      for (int lane = 0; lane < lanes(); ++lane) all = all && is_there(lane);
      if (all) return Parts{first, apart, count, in_turn};
    }
  }
  return std::nullopt;
}

std::string Indices::lanes_text(const Expr& given) {
  const Along run = along(given);
  const std::string type = vectors_.type(ops::DType::i64, lanes());
  if (run.kind == Along::Kind::uniform) return cat(type, "(", text(run.rest), ")");
  if (run.kind == Along::Kind::linear && vectors_.apart(lanes()))
    return cat("(", text(run.rest), " + ", LANE_NUMBER, " * ", type, "(", text(run.stride), "))");
  if (run.kind == Along::Kind::linear)
    return cat("ramp<", lanes(), ">(", text(run.rest), ", ", text(run.stride), ")");
  const auto call = [&](const std::string& function, const Expr& a, const Expr& b) {
    return cat(function, "(", lanes_text(a), ", ", lanes_text(b), ")");
  };
  const auto divided = [&](const char* kind, const auto& node) {
    return call(quotient(kind, node.dividend, node.divisor), node.dividend, node.divisor);
  };
  return match(
      run.rest.form(),
      [&](const index::Sum& sum) {
        std::string text = cat(type, "(", integer_text(sum.offset), ")");
        for (const index::Term& term : sum.terms)
          text += cat(" + ", type, "(", integer_text(term.scale), ") * ", lanes_text(term.factor));
        return cat("(", text, ")");
      },
      [&](const index::Symbol& symbol) { return bound(symbol).name; },
      [&](const index::Product& product) {
        return join(product.factors, " * ", [&](const Expr& factor) { return lanes_text(factor); });
      },
      [&](const index::FloorDiv& node) { return divided("div", node); },
      [&](const index::FloorMod& node) { return divided("mod", node); },
      [&](const index::Least& node) { return call("least", node.a, node.b); },
      [&](const index::Greatest& node) { return call("greatest", node.a, node.b); });
}

std::string Indices::lanes_argument(const Expr& expr) {
  return vectors_.whole(lanes_text(expr), dialect_.type(ops::DType::i64, 1), lanes());
}

bool Indices::is_short(const Expr& expr) const {
  const index::Range range = facts_.range(expr);
  return range.low && *range.low >= INT32_MIN && range.high && *range.high <= INT32_MAX;
}

bool Indices::are_short(const Along& run) const {
  return is_short(run.rest) && is_short(run.rest + run.stride * (lanes() - 1));
}

std::optional<ShortSides> Indices::short_sides(const Expr& a, const Expr& b) {
  const Along run = along(b - a);
  const auto stride = index::constant_of(run.stride);
  if (run.kind != Along::Kind::linear || !stride || !are_short(run)) return std::nullopt;
  const std::string rest = cat("i32(", name(run.rest), ")");
  if (vectors_.apart(lanes())) return ShortSides{cat("i32(", LANE_NUMBER, " * ", -*stride, ")"), rest};
  return ShortSides{cat("ramp_of<", lanes(), ">(i32(0), i32(", -*stride, "))"),
                    cat(vectors_.type(ops::DType::i32, lanes()), "(", rest, ")")};
}

std::optional<std::string> Indices::first_of_neighbours(const Expr& expr, std::int64_t of) {
  const Along run = along(expr);
  if (run.kind != Along::Kind::linear || run.stride != Expr(1) || facts_.divisor(run.rest) % of != 0)
    return std::nullopt;
  return name(run.rest);
}

std::optional<std::string> Indices::short_lanes_text(const Expr& expr, bool all) {
  const Along run = along(expr);
  if (run.kind != Along::Kind::linear || vectors_.apart(lanes()) || (all && !are_short(run)))
    return std::nullopt;
  return cat("ramp_of<", lanes(), ">(i32(", text(run.rest), "), i32(", text(run.stride), "))");
}

std::string Indices::less_text(const Expr& a, const Expr& b, int level) {
  const bool both = compares_shortly_ && is_short(a) && is_short(b);
  const auto written = [&](const Expr& expr) {
    const std::string text = text_at(expr, level);
    return both && !index::constant_of(expr) ? cat("i32(", text, ")") : text;
  };
  return cat(written(a), " < ", written(b));
}

// a < b, which copies of an unrolled loop may know, and all of its lanes. Along the axis: lane * k < rest for
// the first lanes, lane * k > rest for the last ones, else lane by lane.
void Indices::add_conjunct(const index::Less& less, Conjuncts& conjuncts) {
  const Expr a = here(less.a);
  const Expr b = here(less.b);
  if (!varies(a) && !varies(b)) {
    if (facts_.proves_less(a, b)) return;
    const int level = std::max(level_of(a), level_of(b));
    conjuncts.uniform.push_back(named_mask(level, 1, less_text(a, b, level)));
    return;
  }
  const Along run = along(b - a);
  const auto stride = index::constant_of(run.stride);
  if (run.kind == Along::Kind::uniform) {
    add_conjunct({0, run.rest}, conjuncts);
  } else if (run.kind == Along::Kind::linear && stride && *stride < 0 && *stride > INT64_MIN / lanes()) {
    if (facts_.proves_less(-*stride * (lanes() - 1), run.rest)) return;
    const Expr count = index::ceil_div(run.rest, Expr(-*stride));
    const index::Range range = facts_.range(count);
    conjuncts.counts.push_back(name(count));
    conjuncts.least = std::min(conjuncts.least, std::max<std::int64_t>(range.low.value_or(0), 0));
    conjuncts.most = std::min(conjuncts.most, std::max<std::int64_t>(range.high.value_or(INT64_MAX), 0));
  } else if (run.kind == Along::Kind::linear && stride && *stride > 0 && dialect_.has_vectors()) {
    if (facts_.proves_less(0, run.rest)) return;
    const std::string passed = name(index::floor_div(-run.rest, Expr(*stride)) + 1);
    conjuncts.lanes.push_back(
        named_mask(scopes_.level(), lanes(), cat("last_lanes<", lanes(), ">(", passed, ")"), Written::whole));
  } else {
    const std::string type = vectors_.type(ops::DType::i64, lanes());
    conjuncts.lanes.push_back(
        named_mask(scopes_.level(), lanes(), cat("lt(", type, "(0), ", lanes_text(b - a), ")")));
  }
}

Mask Indices::joined(const Conjuncts& conjuncts) {
  const auto itself = [](const std::string& text) { return text; };
  const std::string all = join(conjuncts.uniform, " && ", itself);
  if (conjuncts.counts.empty() && conjuncts.lanes.empty()) {
    if (conjuncts.uniform.empty()) return {};
    if (conjuncts.uniform.size() == 1) return {Mask::Kind::uniform, all};
    return {Mask::Kind::uniform, named_mask(scopes_.level(), 1, all)};
  }
  std::string count;
  for (const std::string& limit : conjuncts.counts)
    count = count.empty() ? limit : cat("least(", count, ", ", limit, ")");
  if (!all.empty()) count = cat(all, " ? ", count.empty() ? cat("i64(", lanes(), ")") : count, " : i64(0)");
  if (!count.empty() && (conjuncts.counts.empty() || count != conjuncts.counts.front()))
    count = scopes_.named(scopes_.level(), "n", dialect_.type(ops::DType::i64, 1), count);
  const Mask first{Mask::Kind::first, count, all.empty() ? conjuncts.least : 0, conjuncts.most};
  if (conjuncts.lanes.empty()) return first;
  std::string mask = join(conjuncts.lanes, " & ", itself);
  if (!count.empty()) mask += cat(" & ", as_lanes(first));
  if (conjuncts.lanes.size() + (count.empty() ? 0u : 1u) > 1)
    mask = named_mask(scopes_.level(), lanes(), mask);
  return {Mask::Kind::lanes, mask};
}

Mask Indices::mask(const index::Condition& condition, const std::set<index::Symbol>& mentioned) {
  Conjuncts conjuncts;
  std::set<index::Symbol> symbols = mentioned;
  symbols.merge(index::symbols_of(condition));
  for (const index::Symbol symbol : symbols) {
    const auto found = bounds_.find(symbol);
    if (found == bounds_.end() || found->second.ok.empty()) continue;
    (found->second.varying ? conjuncts.lanes : conjuncts.uniform).push_back(found->second.ok);
  }
  for (const index::Less& less : condition.all) add_conjunct(less, conjuncts);
  return joined(conjuncts);
}

std::string Indices::as_bool(const Mask& mask) {
  if (mask.kind == Mask::Kind::always) return "true";
  CHECK(mask.kind == Mask::Kind::uniform, "a mask of lanes where all lanes must agree");
  return mask.text;
}

std::string Indices::as_count(const Mask& mask) {
  if (mask.kind == Mask::Kind::first) return mask.text;
  if (mask.kind == Mask::Kind::always) return cat("i64(", lanes(), ")");
  return cat("i64(", as_bool(mask), " ? ", lanes(), " : 0)");
}

std::string Indices::as_lanes(const Mask& mask) {
  if (mask.kind == Mask::Kind::lanes) return mask.text;
  const bool known = vectors_.apart(lanes()) && (mask.least > 0 || mask.most < lanes());
  const std::string bounds = known ? cat(", ", std::min<std::int64_t>(mask.least, lanes()), ", ",
                                         std::min<std::int64_t>(mask.most, lanes()))
                                   : "";
  return named_mask(scopes_.level(), lanes(), cat("first_lanes<", lanes(), bounds, ">(", as_count(mask), ")"),
                    Written::whole);
}

std::string Indices::as_argument(const Mask& mask) {
  return vectors_.whole(as_lanes(mask), dialect_.type(ops::DType::b8, 1), lanes());
}

std::string Indices::any(const Mask& mask) {
  if (mask.kind == Mask::Kind::first) return cat("0 < ", mask.text);
  if (mask.kind == Mask::Kind::lanes) return cat("any_lane(", as_argument(mask), ")");
  return as_bool(mask);
}

}  // namespace twinloom::emit
