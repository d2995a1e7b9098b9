// Along which cells of a total the interpreter combines. For the inside of this room.
#pragma once

#include "core/base/error.h"
#include "core/loops/resolve.h"

namespace twinloom::loops {

// The cells of a total from which a combine or prefix across one axis starts: those of this member
// where a remaining copy's loop encloses the statement, of all members where none does.
class Lines {
 public:
  Lines(const Resolver& names, const TotalForm& form, const Axis& across) : place_(form.place) {
    for (const CopyAxis& copy : form.copies) {
      if (copy.axis == across) across_ = copy;
      if (copy.axis != across) (names.is_bound(copy.axis) ? fixed_ : free_).push_back(copy);
    }
    CHECK(across_.axis == across, "a total has no copies along ", across);
  }

  std::int64_t stride(const State& state) const { return total(state).strides[across_.position]; }
  std::int64_t count(const State& state) const { return total(state).extents[across_.position]; }
  std::vector<std::int64_t> firsts(const State& state) const {
    std::vector<std::int64_t> firsts = {0};
    for (const CopyAxis& copy : fixed_)
      firsts[0] += state.symbols[copy.symbol] * total(state).strides[copy.position];
    for (const CopyAxis& copy : free_) {
      std::vector<std::int64_t> longer;
      for (const std::int64_t first : firsts) {
        for (std::int64_t i = 0; i < total(state).extents[copy.position]; ++i)
          longer.push_back(first + i * total(state).strides[copy.position]);
      }
      firsts = std::move(longer);
    }
    return firsts;
  }

 private:
  const Total& total(const State& state) const { return state.totals[place_]; }
  std::size_t place_;
  CopyAxis across_;
  std::vector<CopyAxis> fixed_, free_;
};

}  // namespace twinloom::loops
