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
// What `limits.seconds` and `limits.seconds_as_chosen` tell of a unit; asked once until the unit is fused.
double seconds_of(const Around& around, std::size_t number);
double chosen_seconds_of(const Around& around, std::size_t number);
// Adds the unit to the readers and writers of what it touches, or takes it away.
void count_touches(Around& around, const lower::Unit& unit, std::size_t number, bool present);

struct Combined {
  std::optional<lower::Unit> unit;
  Reason reason = Reason::no_gain;  // of a refusal
  std::string words;
};
// `first` may store what `second` loads, not the other way round; nothing stands between them.
Combined combine(const Around& around, std::size_t first, std::size_t second, lower::Names& names);

}  // namespace twinloom::fuse
