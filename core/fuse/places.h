// Where two nests meet: places of buffers that both touch, and what that says of their common loops. For the
// inside of this component.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/fuse/align.h"
#include "core/fuse/fuse.h"

namespace twinloom::fuse {

// Offsets of one buffer on both sides that may be the same element.
using Places = std::vector<std::pair<index::Expr, index::Expr>>;

// At most so many, of these buffers: which the first stores, or else loads, and the second loads.
Places places_in_common(const loops::Nest& first, const loops::Nest& second,
                        const std::set<loops::Buffer>& buffers, bool stored, std::size_t most);

// A shared load may not walk every common axis; one axis of equal extent that is left on both sides is the
// same, but for rows and columns of a square matrix: at most so many places of shared buffers are looked at.
void match_the_rest(const loops::Nest& first, const loops::Nest& second,
                    const std::set<loops::Buffer>& shared, std::size_t most, Alignment& alignment);

// Why two nests have no loops in common, in words. `needs_several`: only the first has loops that the second
// has not.
std::pair<Reason, std::string> why_no_frame(const loops::Nest& first, const loops::Nest& second,
                                            bool needs_several, double typical_size);

}  // namespace twinloom::fuse
