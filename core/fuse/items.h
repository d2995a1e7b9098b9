// Inside of the room: what combine() does with the items of a nest.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "core/loops/nest.h"
#include "core/lower/transform.h"

namespace twinloom::fuse {

// In order.
std::vector<loops::Ref<loops::Stmt>> statements_in(const loops::Item& item);
std::vector<loops::Ref<loops::Stmt>> statements_in(const loops::Nest& nest);
std::vector<loops::Load> loads_in(const loops::Nest& nest);

// change(statement) in place of each statement.
void change_statements(loops::Nest& nest, lower::Transformer change);
// With these expressions for symbols, simplified where facts are given.
lower::Transformer substituting(const index::Substitution& symbols, const index::Facts* facts = nullptr);
index::Substitution by_names(const std::map<loops::Axis, loops::Axis>& names);

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
