// Inside of the room: two units made one, or the reason why not. See fuse.h.
#pragma once

#include <optional>
#include <string>

#include "core/fuse/body.h"
#include "core/fuse/fuse.h"
#include "core/lower/names.h"

namespace twinloom::fuse {

// What a unit takes by `Limits`, where it was asked for.
struct Seconds {
  std::optional<double> usual, chosen;
};

// What combine() must know of the units around the two.
struct Around {
  const lower::Lowered& lowered;
  const Limits& limits;
  // By value: the units that load it or add to it, and those that store it.
  std::vector<std::vector<std::size_t>> readers, writers;
  std::vector<Body> bodies;                   // by unit
  mutable std::vector<Seconds> seconds = {};  // by unit
};
Around around(const lower::Lowered& lowered, const Limits& limits);
// Adds the unit to the readers and writers of what it touches, or takes it away.
void count_touches(Around& around, const lower::Unit& unit, std::size_t number, bool present);

struct Combined {
  std::optional<lower::Unit> unit;
  Reason reason = Reason::no_gain;  // of a refusal
  std::string words;
};
// `first` may store what `second` loads, not the other way round; nothing stands between them.
Combined combine(const Around& around, std::size_t first, std::size_t second, lower::Names& names);

// The second, which computes what it loads of the first, few of many elements (`Limits::few_of`). Nothing
// where these are not few, or the first is not elementwise.
//   y[i] = exp(x[i]), i < 25344;   z[j] = y[198*j], j < 128   ->   z[j] = exp(x[198*j])
std::optional<lower::Unit> computing_few_again(const Around& around, std::size_t first, std::size_t second,
                                               lower::Names& names);

}  // namespace twinloom::fuse
