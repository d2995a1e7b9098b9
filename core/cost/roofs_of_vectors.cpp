// See roofs.h. Cores with vectors, each with caches of its own, and a memory that they share.
#include <algorithm>
#include <cmath>

#include "core/cost/constants.h"
#include "core/cost/footprint.h"
#include "core/cost/roofs.h"

namespace twinloom::cost {

namespace {

using loops::Bind;
using namespace constants;

class Vectors {
 public:
  Vectors(const Walk& walk, const machine::Machine& machine) : walk_(walk), machine_(machine) {
    // Tasks are divided as evenly as they can be.
    const double workers = std::max(machine.blocks_at_once, 1);
    workers_ = walk.blocks <= 1 ? 1 : walk.blocks / std::ceil(walk.blocks / workers);
  }

  std::vector<Roof> roofs() {
    double instructions = 0, chain = 0;
    for (std::size_t node = 0; node < walk_.nodes.size(); ++node) {
      const double times = walk_.times(node, {Bind::serial, Bind::unroll, Bind::block});
      instructions += times * instructions_of(node);
      chain += times * walk_.nodes[node].chain * ADD_LATENCY / side_by_side(node);
    }
    std::vector<Roof> roofs;
    add_memory(roofs);
    const double clock = machine_.clock_hertz * workers_;
    roofs.push_back({"instructions", instructions, instructions / machine_.issue_each / clock});
    roofs.push_back({"chain", chain, chain / clock});
    return roofs;
  }

 private:
  // Vector instructions of one iteration: a vector loop of more bytes than a register takes several.
  double instructions_of(std::size_t node) const {
    const Node& at = walk_.nodes[node];
    const double registers = registers_of_vector(node);
    double count = at.work.vector * registers + at.work.scalar * SCALAR;
    for (const std::size_t number : at.accesses) {
      const Access& access = walk_.accesses[number];
      if (access.place == loops::Place::registers && access.steps.empty()) continue;
      count += access_instructions(access, node);
    }
    return count;
  }

  double lanes_of(std::size_t node) const {
    for (std::size_t at = node; at != 0; at = walk_.nodes[at].parent)
      if (walk_.loops[*walk_.nodes[at].loop].bind == Bind::vector)
        return walk_.loops[*walk_.nodes[at].loop].extent;
    return 1;
  }
  double registers_of_vector(std::size_t node) const {
    constexpr double ELEMENT = 4;
    return std::max(1.0, std::ceil(lanes_of(node) * ELEMENT / machine_.vector_bytes));
  }
  // Neighbours are one access a register, others one an element.
  double access_instructions(const Access& access, std::size_t node) const {
    const double lanes = lanes_of(node);
    for (const Step& step : access.steps) {
      if (walk_.loops[step.loop].bind != Bind::vector) continue;
      if (std::abs(step.stride) == access.bytes) return registers_of_vector(node);
      return lanes * GATHER;
    }
    return access.found ? lanes * GATHER : 1;
  }

  // Combinations of one accumulator that do not wait for each other: its copies.
  double side_by_side(std::size_t node) const {
    double copies = 1;
    for (std::size_t at = node; at != 0; at = walk_.nodes[at].parent)
      if (walk_.loops[*walk_.nodes[at].loop].bind == Bind::unroll)
        copies *= walk_.loops[*walk_.nodes[at].loop].extent;
    return copies * registers_of_vector(node);
  }

  // Runs follow one another on a CPU: what a cache holds as a whole is there already.
  void add_memory(std::vector<Roof>& roofs) const {
    const double all = touched_by(walk_, machine_.sector_bytes);
    for (std::size_t level = 0; level + 1 < machine_.memory.size(); ++level) {
      const machine::MemoryLevel& cache = machine_.memory[level];
      const machine::MemoryLevel& from = machine_.memory[level + 1];
      const bool last = level + 2 == machine_.memory.size();
      Cache of;
      of.bytes = static_cast<double>(cache.bytes);
      of.line_bytes = machine_.sector_bytes;
      of.set_pitch = last ? 0 : of.bytes / WAYS;
      of.ways = WAYS;
      if (all <= of.bytes * workers_) continue;
      const Traffic traffic = traffic_of(walk_, of);
      // What is stored is read first, where it is not stored past the caches.
      const double bytes = traffic.read + READ_FOR_OWNERSHIP * traffic.written + CALLED * walk_.call_bytes;
      const double sharers = from.workers > 0 ? std::min(workers_, from.workers) : workers_;
      roofs.push_back({from.name, bytes, bytes / (from.bytes_per_second * sharers)});
    }
  }
  const Walk& walk_;
  const machine::Machine& machine_;
  double workers_ = 1;
};

}  // namespace

std::vector<Roof> roofs_of_vectors(const Walk& walk, const machine::Machine& machine) {
  return Vectors(walk, machine).roofs();
}

}  // namespace twinloom::cost
