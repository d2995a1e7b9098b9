// What a call throws, as text.
#pragma once

#include <string>
#include <string_view>

namespace twinloom::tests {

inline constexpr std::string_view NOTHING_THROWN = "nothing was thrown";

// The words of the `Thrown` that `act` throws, or NOTHING_THROWN. What is of another type passes on.
template <class Thrown, class Act>
std::string words_of(Act&& act) {
  try {
    act();
  } catch (const Thrown& thrown) {
    return thrown.what();
  }
  return std::string(NOTHING_THROWN);
}

}  // namespace twinloom::tests
