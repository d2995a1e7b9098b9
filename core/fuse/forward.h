// Inside of the room: what one draft stores and another loads is handed over as a value.
//   y[129*i + j] = exp(x[129*i + j])   and   load y[129*k + 3]   ->   exp(x[129*k + 3])
#pragma once

#include <string>

#include "core/fuse/align.h"
#include "core/fuse/fuse.h"

namespace twinloom::fuse {

bool is_elementwise(const loops::Nest& nest);  // no totals, no siblings: only stores
double typical_turns(const std::vector<loops::NestLoop>& loops, double typical);
// Where a buffer is stored.
struct Stored {
  std::size_t item = 0;
  const loops::Store* store = nullptr;
};
std::vector<Stored> stores_of(const loops::Nest& nest);
// Every distinct load beneath the statement.
std::vector<loops::Load> loads_of(const loops::Stmt& stmt);

struct Handover {
  bool same_turn = true;  // the reader's common axes are the writer's: totals and scans may be read
  const index::Facts* facts = nullptr;
  const Limits* limits = nullptr;
};
// The reader with every load of `buffers` replaced by what the writer stores there.
struct Forwarded {
  loops::Nest nest;
  double evaluations = 0;  // elements that are computed again, typically
  double work = 0;         // of one of them
  // Items of the reader (siblings) that must be walked with an item of the writer, by their axes.
  struct Join {
    std::size_t writer, reader;
    std::map<loops::Axis, loops::Axis> writer_by_reader;
  };
  std::vector<Join> joins;
  std::string refused;  // why not, where something stood against it
};
Forwarded forward(const loops::Nest& writer, const loops::Nest& reader,
                  const std::set<loops::Buffer>& buffers, const Handover& handover, lower::Names& names);

}  // namespace twinloom::fuse
