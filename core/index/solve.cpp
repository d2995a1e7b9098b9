// See solve.h.
#include "core/index/solve.h"

#include "core/base/integers.h"
#include "core/index/divisors.h"

namespace twinloom::index {

namespace {

__extension__ typedef __int128 Wide;  // -scale and value - rest need not fit 64 bits

}  // namespace

std::optional<std::int64_t> solve(const Expr& expr, std::int64_t value, Symbol symbol, const Values& known) {
  const auto linear = linear_in(expr, symbol);
  if (!linear) return std::nullopt;
  for (const Expr& part : {linear->scale, linear->rest}) {
    for (const Symbol& other : symbols_of(part))
      if (!known.contains(other)) return std::nullopt;
    if (bad_divisor(part, known)) return std::nullopt;
  }
  const std::int64_t scale = evaluate(linear->scale, known);
  if (scale == 0) return std::nullopt;
  const Wide left = static_cast<Wide>(value) - evaluate(linear->rest, known);
  if (left % scale != 0) return std::nullopt;
  const Wide solution = left / scale;
  const auto result = static_cast<std::int64_t>(solution);
  return result == solution ? std::optional(result) : std::nullopt;
}

}  // namespace twinloom::index
