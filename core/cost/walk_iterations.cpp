// How often the nodes of a walk run, and by how many threads. See walk.h.
#include <algorithm>

#include "core/cost/walk.h"

namespace twinloom::cost {

double Walk::times(std::size_t node, std::initializer_list<loops::Bind> binds) const {
  double times = 1;
  for (std::size_t at = node; at != 0; at = nodes[at].parent) {
    const Loop& loop = loops[*nodes[at].loop];
    if (std::ranges::find(binds, loop.bind) != binds.end()) times *= loop.extent;
  }
  return times;
}

double Walk::threads_below(std::size_t node) const {
  double most = 1;
  for (const std::size_t child : nodes[node].children) {
    const Loop& loop = loops[*nodes[child].loop];
    most = std::max(most, threads_below(child) * (loop.bind == loops::Bind::thread ? loop.extent : 1));
  }
  return most;
}

double Walk::threads_above(std::size_t node) const {
  return node == 0 ? 1 : times(nodes[node].parent, {loops::Bind::thread});
}

double Walk::threads_at(std::size_t node) const {
  for (std::size_t at = node; at != 0; at = nodes[at].parent)
    if (loops[*nodes[at].loop].bind == loops::Bind::thread)
      return times(node, {loops::Bind::thread}) * threads_below(at);
  return threads;
}

}  // namespace twinloom::cost
