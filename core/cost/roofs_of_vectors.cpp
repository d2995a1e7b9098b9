// See roofs.h. Cores with vectors, each with caches of its own, and a memory that they share.
#include <algorithm>
#include <bit>
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
  Vectors(const Walk& walk, const machine::Machine& machine)
      : walk_(walk), machine_(machine), workers_(workers_of(walk, machine)) {
    // Of all that is kept at once, so much does not fit into registers.
    const double registers = walk.accumulator_bytes / machine.vector_bytes;
    const double working = walk.has_products ? WORKING_OF_PRODUCTS : WORKING;
    spilled_ = std::max(0.0, 1 - (machine.vector_registers - working) / std::max(registers, 1.0));
  }

  std::vector<Roof> roofs() {
    double instructions = 0, chain = 0;
    for (std::size_t node = 0; node < walk_.nodes.size(); ++node) {
      const double times = walk_.times(node, {Bind::serial, Bind::unroll, Bind::block});
      instructions += times * instructions_of(node);
      if (walk_.nodes[node].chain == 0) continue;
      // Chains that begin anew while one still runs go on beside it.
      const double all = instructions_below(walk_.nodes[node].chain_start);
      const double beside = std::max(side_by_side(node), WINDOW / std::max(all, 1.0));
      chain += times * walk_.nodes[node].chain * ADD_LATENCY / beside;
    }
    std::vector<Roof> roofs;
    add_memory(roofs);
    const double clock = machine_.clock_hertz * workers_;
    roofs.push_back({"instructions", instructions, instructions / machine_.issue_each / clock});
    roofs.push_back({"chain", chain, chain / clock});
    return roofs;
  }

  double written_out() const {
    double all = 0;
    for (std::size_t node = 0; node < walk_.nodes.size(); ++node)
      all += walk_.times(node, {Bind::unroll}) *
             (instructions_of(node) + TEXT_OF_APART * walk_.nodes[node].work.apart * lanes_of(node));
    return all;
  }

 private:
  // Vector instructions of one iteration: a vector loop of more bytes than a register takes several.
  double instructions_of(std::size_t node) const {
    const Node& at = walk_.nodes[node];
    const double registers = registers_of_vector(node);
    double count = at.work.vector * registers + at.work.scalar * SCALAR + at.work.lane * lanes_of(node);
    if (at.chain > 0) count += spilled_ * SPILLED * registers;
    for (const std::size_t number : at.accesses) {
      const Access& access = walk_.accesses[number];
      if (access.place == loops::Place::registers && access.steps.empty()) continue;
      count += access_instructions(access, node);
    }
    return count;
  }

  // Of one iteration of a node, with the loops in it.
  double instructions_below(std::size_t node) const {
    double count = instructions_of(node);
    for (const std::size_t child : walk_.nodes[node].children) {
      const Loop& loop = walk_.loops[*walk_.nodes[child].loop];
      count += instructions_below(child) * (loop.bind == Bind::vector ? 1 : loop.extent);
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
    return std::max(1.0, std::ceil(lanes_of(node) * LANE_BYTES / machine_.vector_bytes));
  }
  // Whether the node only moves elements of a square whose rows are written out around it, and these are
  // neighbours: then it is transposed in registers.
  bool is_transposed(const Access& access, std::size_t node) const {
    const Node& vector = walk_.nodes[node];
    const auto rows = walk_.nodes[vector.parent].loop;
    if (!vector.loop || !rows || vector.accesses.size() != 2 || vector.work.vector > 0) return false;
    const double side = walk_.loops[*vector.loop].extent;
    if (walk_.loops[*rows].bind != Bind::unroll || walk_.loops[*rows].extent != side) return false;
    if (side > SQUARE || side * access.bytes > SQUARE_BYTES) return false;
    return std::ranges::any_of(access.steps, [&](const Step& step) {
      return step.loop == *rows && step.stride == access.bytes && step.iterations == side;
    });
  }

  // Neighbours are one access a register, others one an element; of loads those that are few elements apart
  // are picked out of all registers between them.
  double access_instructions(const Access& access, std::size_t node) const {
    const double lanes = lanes_of(node);
    if (is_transposed(access, node)) return registers_of_vector(node) * (1 + std::log2(lanes));
    for (const Step& step : access.steps) {
      if (walk_.loops[step.loop].bind != Bind::vector) continue;
      const double apart = step.stride / access.bytes;
      if (std::abs(apart) == 1) return registers_of_vector(node);
      if (!access.store && apart > 1 && apart <= machine::MOST_APART)
        return 2 * apart * registers_of_vector(node);
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

  // Runs follow one another on a CPU: what a cache holds as a whole is there already, but for results.
  void add_memory(std::vector<Roof>& roofs) const {
    const machine::MemoryLevel& memory = machine_.memory.back();
    const double all = held_by(walk_, machine_.sector_bytes), streamed = streamed_by(walk_);
    double stays = 1;  // share of what is stored that has not gone to memory yet
    for (std::size_t level = 0; level + 1 < machine_.memory.size(); ++level) {
      const machine::MemoryLevel& from = machine_.memory[level + 1];
      const Cache cache = cache_of(level);
      if (all <= cache.bytes * workers_) continue;
      Traffic traffic = traffic_of(walk_, cache);
      traffic.read += CALLED / 2 * walk_.call_bytes, traffic.written += CALLED / 2 * walk_.call_bytes;
      const double goes = &from == &memory ? stays : level == 0 ? 0 : FRESH * stays;
      stays -= goes;
      const double moved =
          traffic.read / read_rate(from) / sharers(from) +
          traffic.written * goes / written_rate(memory) / sharers(memory) +
          (&from == &memory ? 0 : traffic.written * stays / written_rate(from) / sharers(from));
      const double lines =
          (traffic.jumping / IN_FLIGHT + traffic.paging / PAGES_IN_FLIGHT) / cache.line_bytes;
      const double waited = lines * from.latency_seconds / workers_;
      roofs.push_back({from.name, traffic.read + traffic.written, std::max(moved, waited)});
    }
    if (streamed > 0) roofs.push_back({"streamed", streamed, streamed / streamed_rate() / sharers(memory)});
  }
  static double read_rate(const machine::MemoryLevel& level) {
    return level.read_per_second > 0 ? level.read_per_second : level.bytes_per_second;
  }
  static double written_rate(const machine::MemoryLevel& level) {
    return level.written_per_second > 0 ? level.written_per_second : level.bytes_per_second / 2;
  }
  double streamed_rate() const {
    return machine_.streamed_per_second > 0 ? machine_.streamed_per_second
                                            : read_rate(machine_.memory.back());
  }
  double sharers(const machine::MemoryLevel& level) const {
    return level.workers > 0 ? std::min(workers_, level.workers) : workers_;
  }
  // Lanes of a vector are there at the same time.
  Cache cache_of(std::size_t level) const {
    Cache cache;
    cache.bytes = static_cast<double>(machine_.memory[level].bytes);
    cache.line_bytes = machine_.sector_bytes;
    cache.streams = true;
    cache.found_alone = false;
    const bool last = level + 2 == machine_.memory.size();
    const auto largest = static_cast<std::uint64_t>(cache.bytes / WAYS);
    cache.set_pitch = last ? 0 : level == 0 ? PAGE : static_cast<double>(std::bit_floor(largest));
    if (!last) cache.ways = cache.bytes / cache.set_pitch;
    for (std::size_t loop = 0; loop < walk_.loops.size(); ++loop)
      if (walk_.loops[loop].bind == Bind::vector) cache.together[loop] = walk_.loops[loop].extent;
    return cache;
  }

  const Walk& walk_;
  const machine::Machine& machine_;
  double workers_ = 1;
  double spilled_ = 0;
};

}  // namespace

// Tasks are divided as evenly as they can be.
double workers_of(const Walk& walk, const machine::Machine& machine) {
  if (walk.blocks <= 1) return 1;
  const double workers =
      machine::workers_for(machine, walk.argument_bytes, walk.blocks, machine.blocks_at_once);
  return walk.blocks / std::ceil(walk.blocks / workers);
}

std::vector<Roof> roofs_of_vectors(const Walk& walk, const machine::Machine& machine) {
  return Vectors(walk, machine).roofs();
}

double written_for_vectors(const Walk& walk, const machine::Machine& machine) {
  return Vectors(walk, machine).written_out();
}

}  // namespace twinloom::cost
