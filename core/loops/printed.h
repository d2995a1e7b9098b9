// The printed form together with where each statement stands in it. For the inside of this room.
#pragma once

#include <optional>
#include <string_view>

#include "core/loops/loops.h"

namespace twinloom::loops {

struct Printed {
  std::string text;
  std::vector<int> lines;  // of each statement but Blocks, outermost first; the first line is 1
};
Printed print_with_lines(const Program& program);

std::string print(const SizeInfo& size);  // s0 in 1..64 % 4 ~ 48

// Words that print and parse share.
std::string_view name(Update update);
std::string_view name(Pairing pairing);
std::string_view name(Routine routine);

// The temp that "t12" or "t12.1" names.
std::optional<Read> read_of(std::string_view text);

// What a load without a mask gives where it touches nothing, when nothing else is printed.
Literal zero_of(ops::DType dtype);

}  // namespace twinloom::loops
