// Inside of the room: finds which axes of two nests are the same by looking at one offset of each.
//   A stores b[96*i + j], i < 264, j < 96;   B loads b[96*k + l], k < 264, l < 96   ->   i = k, j = l
//   A stores b[i], i < 264;   B loads b[33*k + l], k < 8, l < 33   ->   i is cut in two, i = 33*i' + i'', and
//   then i' = k, i'' = l
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "core/lower/draft.h"

namespace twinloom::fuse {

// A draft and what is known of its symbols.
struct Side {
  lower::Draft draft;
  index::Facts facts;
};

// What stands at an offset: the axes that may be matched.
struct Reach {
  index::Expr offset;
  std::vector<loops::NestLoop> axes;
};

struct Alignment {
  std::map<loops::Axis, loops::Axis> second_by_first;
  std::map<loops::Axis, loops::Axis> first_by_second;
};

// Matches axes of equal step and extent. Where one side's axis is a whole number of the other's, it is cut
// in the side's draft (and in its reach).
Alignment align(Side& first, Reach& first_reach, Side& second, Reach& second_reach, lower::Names& names);

// The axis becomes inner * outer axis + inner axis, everywhere in the draft. Returns {outer, inner}.
struct Cut {
  loops::NestLoop outer, inner;
  index::Substitution by;
};
Cut cut_axis(Side& side, loops::Axis axis, const index::Expr& inner, lower::Names& names);

// Cuts every axis that is divided by numbers that divide its extent, so that quotients and remainders
// become axes of their own:  x[floor_div(i, 96)] + w[floor_mod(i, 96)], i < 25344  ->  x[j] + w[k]
// False where there is none.
bool refine(Side& side, lower::Names& names);

// The values of the axes for which `stored` is `offset`. Nothing where the axes do not fill memory without
// gaps, from the innermost out.
std::optional<index::Substitution> invert(const index::Expr& stored, const std::vector<loops::NestLoop>& axes,
                                          const index::Expr& offset, const index::Facts& facts);

}  // namespace twinloom::fuse
