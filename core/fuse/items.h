// Inside of the room: what combine() does with the items of a nest.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/loops/nest.h"

namespace twinloom::fuse {

std::vector<loops::Load> loads_in(const loops::Nest& nest);

// The loops whose axes are not among the keys.
std::vector<loops::NestLoop> axes_not_in(const std::vector<loops::NestLoop>& loops,
                                         const std::map<loops::Axis, loops::Axis>& matched);

// The items of a nest of statements under fewer common loops: the others become loops of one sibling.
std::vector<loops::Item> under(const loops::Nest& nest, const std::vector<loops::NestLoop>& left);

// The nest with common axes renamed.
loops::Nest renamed(const loops::Nest& nest, const std::map<loops::Axis, loops::Axis>& names);

// Without the stores of these buffers, and without what is then empty.
std::vector<loops::Item> without_stores(const std::vector<loops::Item>& items,
                                        const std::set<loops::Buffer>& dropped);

}  // namespace twinloom::fuse
