// A number that cannot be mistaken for another kind of number: Id<struct NodeTag>.
#pragma once

#include <compare>
#include <cstdint>

namespace twinloom {

template <class Tag>
struct Id {
  std::uint32_t index = 0;
  friend auto operator<=>(const Id&, const Id&) = default;
};

}  // namespace twinloom
