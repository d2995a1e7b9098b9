// A unit while it is being made or fused: its nest speaks of buffers by ValueId (Buffer k is value k), and
// axes, Index symbols and temps have names that no other open draft has.
#pragma once

#include <vector>

#include "core/loops/nest.h"
#include "core/lower/names.h"
#include "core/lower/unit.h"

namespace twinloom::lower {

struct Draft {
  loops::Nest nest;
  std::vector<graph::NodeId> nodes;
};

// The unit with short names, values shared (share.h), and only the arguments that it uses: parameters,
// constants, temporaries, results, each by ValueId.
Unit finish(const Draft& draft, const Lowered& lowered);
// The unit of a nest that speaks of buffers by ValueId, as it is.
Unit packed(const loops::Nest& nest, std::vector<graph::NodeId> nodes, const Lowered& lowered);
// The same of a body that has local buffers too: `arrays`, which it numbers from the number of values on.
Unit packed(const loops::Ref<loops::Stmt>& body, const std::vector<loops::BufferInfo>& arrays,
            std::vector<graph::NodeId> nodes, const Lowered& lowered);
// The other way round: the body as it is, whose local buffers are numbered from `arrays` on.
loops::Ref<loops::Stmt> opened(const Unit& unit, std::uint32_t arrays, Names& names);
// The same of a nest without local buffers, with every Let written out.
Draft open(const Unit& unit, Names& names);

// The buffers that the nest loads and stores, by value; operands of a Call are stored.
struct Touched {
  std::set<ValueId> loaded, stored;
  std::set<ValueId> updated;  // of those that are stored
};
Touched touched_by(const loops::Nest& nest);
Touched touched_by(const loops::Stmt& body);

// Strides without gaps for dimensions in this order, the outermost first.
std::vector<index::Expr> strides_in_order(const graph::Shape& shape, const std::vector<std::size_t>& order);

// Every size and stride symbol that the table of values mentions, and the two of random numbers: what no
// axis may be called.
std::set<index::Symbol> taken_symbols(const Lowered& lowered);

// Names every nest by its number and what it computes: "k3_sum_exp".
void name_kernels(Lowered& lowered);

}  // namespace twinloom::lower
