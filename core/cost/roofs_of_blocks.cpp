// See roofs.h. One multiprocessor executes instructions of its resident warps, each of which waits for its
// own.
#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "core/base/integers.h"
#include "core/cost/constants.h"
#include "core/cost/footprint.h"
#include "core/cost/roofs.h"

namespace twinloom::cost {

namespace {

using loops::Bind;
using namespace constants;

// Lanes of the vector that is walked at a node.
double lanes_at(const Walk& walk, std::size_t node) {
  for (; walk.nodes[node].loop; node = walk.nodes[node].parent) {
    const Loop& loop = walk.loops[*walk.nodes[node].loop];
    if (loop.bind == Bind::vector) return loop.extent;
  }
  return 1;
}

// Elements that a thread loads at a node, of all lanes of a vector.
double loaded_lanes(const Walk& walk, std::size_t node) {
  double loads = 0;
  for (const std::size_t access : walk.nodes[node].accesses) loads += walk.accesses[access].store ? 0 : 1;
  return lanes_at(walk, node) * loads;
}

// Iterations that are written out around a node, whose loads the compiler brings together.
double written_out(const Walk& walk, std::size_t node) {
  double iterations = 1;
  for (; walk.nodes[node].loop; node = walk.nodes[node].parent) {
    const Loop& loop = walk.loops[*walk.nodes[node].loop];
    if (loop.bind == Bind::serial || loop.bind == Bind::block) break;
    if (loop.bind == Bind::unroll) iterations *= loop.extent;
  }
  return iterations;
}

// Registers for what a thread loads at a node in all iterations that are written out, but for what an array
// of registers takes for the next one.
double loaded_registers(const Walk& walk, std::size_t node) {
  double registers = 0;
  for (const std::size_t number : walk.nodes[node].accesses) {
    const Access& access = walk.accesses[number];
    if (access.store || access.place == loops::Place::registers || access.of_next) continue;
    const auto moves = [&](Bind bind) {
      return std::ranges::any_of(access.steps,
                                 [&](const Step& step) { return walk.loops[step.loop].bind == bind; });
    };
    const double lanes = moves(Bind::vector) ? lanes_at(walk, node) : 1;
    const double iterations = moves(Bind::unroll) ? written_out(walk, node) : 1;
    registers += std::ceil(lanes * access.bytes / REGISTER_BYTES) *
                 (access.share < 1 ? std::min(iterations, PREDICATES) : iterations);
  }
  return registers;
}

// Registers that the values of a thread want, and that it may have. Beside arrays all accumulators count, and
// one vector of what is loaded, most of which the arrays are of; as one does of what is only stored.
double wanted_registers(const Walk& walk) {
  const bool has_arrays = walk.array_bytes > 0;
  double most = walk.accumulator_bytes;
  for (std::size_t node = 0; node < walk.nodes.size(); ++node) {
    const double totals = walk.nodes[node].accumulator_bytes;
    const bool is_summed_up = totals > 0 && !has_arrays;
    const double loaded = (is_summed_up ? loaded_registers : loaded_lanes)(walk, node);
    most = std::max(most, (has_arrays ? walk.accumulator_bytes : totals) + loaded * REGISTER_BYTES);
  }
  return OWN_REGISTERS + (walk.array_bytes + most) / REGISTER_BYTES;
}
// The blocks of a task: one, or a cluster.
struct Shape {
  double threads, blocks;
};
Shape shape_of(const Walk& walk) {
  const machine::BlockShape shape = machine::block_shape(std::llround(std::max(walk.threads, 1.0)));
  return {static_cast<double>(shape.threads), static_cast<double>(shape.blocks)};
}
double most_registers(const Walk& walk, const machine::Machine& machine) {
  return std::min(MOST_REGISTERS, static_cast<double>(machine.registers_each) / shape_of(walk).threads);
}

class Blocks {
 public:
  Blocks(const Walk& walk, const machine::Machine& machine)
      : walk_(walk), machine_(machine), of_task_(shape_of(walk).blocks), blocks_(walk.blocks * of_task_) {
    resident_ = blocks_each(walk, machine);
    const double slots = resident_ * machine.multiprocessors;
    waves_ = blocks_ / slots;
    busy_ = std::min(blocks_, static_cast<double>(machine.multiprocessors));
    spilled_ = std::max(0.0, wanted_registers(walk) - most_registers(walk, machine));
  }

  std::vector<Roof> roofs() {
    if (walk_.blocks == 0) return {};
    for (std::size_t node = 0; node < walk_.nodes.size(); ++node) count(node);
    std::vector<Roof> roofs;
    add_memory(roofs);
    const double clock = machine_.clock_hertz;
    // The last round of blocks leaves multiprocessors idle.
    const double rounds = std::ceil(blocks_ / machine_.multiprocessors);
    const double share = (waves_ < 1 ? rounds : blocks_ / machine_.multiprocessors) / of_task_;
    roofs.push_back(
        {"instructions", slots_ * walk_.blocks, slots_ * share / machine_.issue_each / clock * OVERLAP});
    roofs.push_back({"wavefronts", wavefronts_ * walk_.blocks, wavefronts_ * share / clock * PASS});
    const Latency whole = latency(0);
    const double cycles = whole.memory + whole.rest;
    const double last =
        waves_ <= 1
            ? 1
            : std::max(waves_, std::floor(waves_) + LAST_WAVE * (std::ceil(waves_) - std::floor(waves_)));
    roofs.push_back({"chain", cycles, cycles / clock * last});
    roofs.push_back({"blocks", blocks_, blocks_ * STARTED / clock});
    return roofs;
  }

 private:
  double vector_of(std::size_t node) const { return lanes_at(walk_, node); }

  // Instruction slots of warps, and passes through the first cache, of one task.
  void count(std::size_t node) {
    const Node& at = walk_.nodes[node];
    const double warps = std::ceil(walk_.threads_at(node) / machine_.warp_threads);
    const double lanes = vector_of(node);
    const double times = walk_.times(node, {Bind::serial, Bind::unroll, Bind::vector}) / lanes;
    double slots =
        (at.work.vector + EXCHANGE * at.exchanges) * lanes + at.work.scalar + CONVERGE * at.barriers;
    for (const std::size_t number : at.accesses) {
      const Access& access = walk_.accesses[number];
      if (access.place == loops::Place::registers) continue;
      const double requests = requests_of(access, lanes);
      slots += requests * ADDRESS;
      const double elements = lanes / requests, all = warps * times * requests;
      if (access.place == loops::Place::scratch) {
        wavefronts_ += all * queues_of(access, elements * access.bytes);
        continue;
      }
      const Request request = request_of(access, elements, LINE_BYTES);
      wavefronts_ += all * wavefronts_of(access, elements * access.bytes, request);
      if (!access.store) add_loaded(access, elements * access.bytes, all, {request, sums_only(node)});
      if (access.store && access.place == loops::Place::memory)
        in_parts_[number] += walk_.blocks * all * parts_of(access, elements);
    }
    // What has no register is stored and loaded again where it is used.
    const double spilled = 2 * std::min(spilled_, loaded_lanes(walk_, node));
    wavefronts_ += warps * times * spilled;
    slots_ += warps * times * (slots + spilled);
  }

  // Whether what a node loads is summed up, and nothing is stored beside it.
  bool sums_only(std::size_t node) const {
    return walk_.nodes[node].accumulator_bytes > 0 &&
           std::ranges::none_of(walk_.nodes[node].accesses, [&](std::size_t number) {
             return walk_.accesses[number].store && walk_.accesses[number].place == loops::Place::memory;
           });
  }
  // What a request of a warp touches: distinct elements of threads, and lines or sectors of so many bytes.
  struct Request {
    double places, units;
  };
  // By so many requests of warps, each thread with so many bytes.
  struct Loaded {
    Request request;
    bool summed_up;
  };
  void add_loaded(const Access& access, double bytes, double requests, const Loaded& loaded) {
    const double each = loaded.request.places * bytes, all = each * access.share * requests;
    const bool is_narrow = loaded.request.units == 1 && loaded.request.places > 1 && each <= LINE_BYTES / 2;
    loaded_ += all;
    if (loaded.summed_up && is_narrow) narrow_ += all;
  }

  // Accesses of a thread for all lanes of a vector: 16 bytes at once where they are neighbours.
  double requests_of(const Access& access, double lanes) const {
    if (lanes == 1) return 1;
    const auto along = vector_step(access);
    if (!along) return 1;
    if (std::abs(along->stride) != access.bytes) return lanes;
    return std::max(1.0, lanes * access.bytes / machine_.vector_bytes);
  }
  const Step* vector_step(const Access& access) const {
    for (const Step& step : access.steps)
      if (walk_.loops[step.loop].bind == Bind::vector) return &step;
    return nullptr;
  }

  // Thread loops around a node, first the one whose iterations are nearest to each other.
  std::vector<std::size_t> thread_nodes(std::size_t of) const {
    std::vector<std::size_t> nodes;
    for (std::size_t node = of; node != 0; node = walk_.nodes[node].parent)
      if (walk_.loops[*walk_.nodes[node].loop].bind == Bind::thread) nodes.push_back(node);
    if (walk_.outermost_fastest) std::ranges::reverse(nodes);
    return nodes;
  }

  // Bytes from the first thread of a warp, by thread. Places that are found apart lie apart.
  std::vector<double> lanes_of(const Access& access) const {
    std::vector<double> offsets(static_cast<std::size_t>(machine_.warp_threads), 0.0);
    const auto count_of = [](double count) {
      return std::max<std::size_t>(1, static_cast<std::size_t>(count));
    };
    std::size_t width = 1;
    bool first = !walk_.outermost_fastest;
    for (const std::size_t node : thread_nodes(access.node)) {
      const Loop& loop = walk_.loops[*walk_.nodes[node].loop];
      if (first) width = count_of(walk_.threads_below(node));
      first = false;
      const std::size_t extent = count_of(loop.extent);
      const bool apart = access.found_by.contains(*walk_.nodes[node].loop);
      for (std::size_t lane = 0; apart && lane < offsets.size(); ++lane)
        offsets[lane] += FAR * static_cast<double>(lane / width % extent);
      for (const Step& step : access.steps) {
        if (step.loop != *walk_.nodes[node].loop) continue;
        const std::size_t below = count_of(step.below), digits = count_of(step.iterations);
        for (std::size_t lane = 0; lane < offsets.size(); ++lane)
          offsets[lane] += static_cast<double>(lane / width % extent / below % digits) * step.stride;
      }
      width *= extent;
    }
    return offsets;
  }

  static double distinct(std::vector<std::int64_t>& values) {
    std::ranges::sort(values);
    values.erase(std::ranges::unique(values).begin(), values.end());
    return static_cast<double>(values.size());
  }

  // Passes through the cache of one request of a warp, each thread with so many bytes: lines that it touches,
  // at least as many as its bytes fill.
  static double wavefronts_of(const Access& access, double bytes, const Request& request) {
    return std::max(request.units, request.places * bytes / LINE_BYTES) * access.share;
  }

  // Passes of a warp's request of shared memory: of as many threads at once as have a word for each bank, the
  // longest queue at one bank.
  double queues_of(const Access& access, double bytes) const {
    const double most = machine_.vector_bytes / BANK_BYTES;
    const auto words = static_cast<std::size_t>(std::clamp(bytes / BANK_BYTES, 1.0, most));
    if (!access.found_by.empty()) return QUEUE * static_cast<double>(words);
    const std::vector<double> offsets = lanes_of(access);
    const std::size_t together = static_cast<std::size_t>(BANKS) / words;
    double passes = 0;
    for (std::size_t from = 0; from < offsets.size(); from += together) {
      std::vector<std::int64_t> touched;
      for (std::size_t thread = from; thread < std::min(from + together, offsets.size()); ++thread)
        for (std::size_t word = 0; word < words; ++word)
          touched.push_back(static_cast<std::int64_t>(std::floor(offsets[thread] / BANK_BYTES)) +
                            static_cast<std::int64_t>(word));
      distinct(touched);
      for (std::int64_t& word : touched) word = floor_mod(word, static_cast<std::int64_t>(BANKS));
      std::ptrdiff_t longest = 1;
      for (const std::int64_t bank : touched) longest = std::max(longest, std::ranges::count(touched, bank));
      passes += static_cast<double>(longest);
    }
    return passes;
  }

  Request request_of(const Access& access, double elements, double unit) const {
    std::vector<std::int64_t> places, units;
    for (const double offset : lanes_of(access)) {
      places.push_back(static_cast<std::int64_t>(offset));
      for (double byte = 0; byte < elements * access.bytes; byte += unit)
        units.push_back(static_cast<std::int64_t>(std::floor((offset + byte) / unit)));
    }
    return {distinct(places), distinct(units)};
  }

  // Bytes that a request of a warp moves which stores less than half of each sector that it touches: these
  // are read and written, also where other warps store the rest of them at about the same time.
  double parts_of(const Access& access, double elements) const {
    const double sector = machine_.sector_bytes;
    const Request request = request_of(access, elements, sector);
    const double touched = request.units * sector;
    return request.places * elements * access.bytes < touched * FILLED ? 2 * touched * access.share : 0;
  }

  void add_memory(std::vector<Roof>& roofs) const {
    const double workers = machine_.blocks_at_once;
    for (std::size_t level = 0; level + 1 < machine_.memory.size(); ++level) {
      const machine::MemoryLevel& cache = machine_.memory[level];
      const machine::MemoryLevel& from = machine_.memory[level + 1];
      const bool shared = level + 2 == machine_.memory.size();
      Cache of = cache_of(cache, shared);
      if (shared) of.in_parts = in_parts_;
      Traffic traffic = traffic_of(walk_, of);
      traffic.read += walk_.call_bytes, traffic.written += walk_.call_bytes;
      const double bytes = traffic.read + traffic.written;
      const double busy = busy_ / (BUSY * machine_.multiprocessors);
      const double reached = busy < 1 ? busy : std::min(1.0, in_flight(bytes));
      const double narrow = loaded_ > 0 ? 1 + NARROW * narrow_ / loaded_ : 1;
      roofs.push_back({from.name, bytes, bytes / (from.bytes_per_second * workers * reached) * narrow});
    }
  }

  // Share of the bandwidth that the loads of so few threads of each multiprocessor reach, after which no
  // other block comes. What a thread loads all at once only waits, as the chain says.
  double in_flight(double bytes) const {
    if (waves_ > 1 || bytes < LONG_LOADS * walk_.blocks * walk_.threads) return 1;
    const double each = std::ceil(blocks_ / machine_.multiprocessors) * walk_.threads / of_task_;
    return each / LOADING_THREADS;
  }

  // The last cache is of all that is resident, the first of one block.
  Cache cache_of(const machine::MemoryLevel& level, bool shared) const {
    Cache cache;
    cache.line_bytes = machine_.sector_bytes;
    const double resident = std::max(1.0, std::floor(resident_ * machine_.multiprocessors / of_task_));
    double together = shared ? std::min(walk_.blocks, resident) : 1;
    cache.bytes = static_cast<double>(level.bytes) * machine_.blocks_at_once;
    if (shared) cache.of_blocks = REUSED;
    if (!shared) cache.bytes *= of_task_ / (machine_.multiprocessors * resident_);
    for (std::size_t number = walk_.loops.size(); number-- > 0;) {
      const Loop& loop = walk_.loops[number];
      if (loop.bind == Bind::thread || loop.bind == Bind::vector) cache.together[number] = loop.extent;
      if (loop.bind != Bind::block) continue;
      const double now = std::min(loop.extent, std::max(1.0, together));
      cache.together[number] = now;
      together /= now;
    }
    return cache;
  }

  // Cycles of one execution of a node's loop, for one block alone: what waits for so many loads of a thread,
  // which a serial loop around may have on their way for several iterations, and the rest.
  struct Latency {
    double memory = 0, loads = 0, rest = 0;
    double next = 0;  // that an iteration lasts at least, for what the next one waits for
  };
  Latency latency(std::size_t node) const {
    const Node& at = walk_.nodes[node];
    Latency once;
    for (const std::size_t number : at.accesses) {
      const Access& access = walk_.accesses[number];
      if (access.store || access.place == loops::Place::registers) continue;
      const double cycles = access.place == loops::Place::scratch ? SHARED : memory_cycles();
      if (access.of_next) {
        once.next = std::max(once.next, cycles);
        continue;
      }
      once.memory = std::max(once.memory, cycles);
      once.loads += requests_of(access, vector_of(node));
    }
    const double lanes = vector_of(node);
    const double warps = std::ceil(walk_.threads / machine_.warp_threads);
    once.rest = at.barriers * (BARRIER + BARRIER_WARP * warps) + at.exchanges * EXCHANGED +
                at.chain * DEPENDENT + (at.work.vector * lanes + at.work.scalar) * SLOT;
    for (const std::size_t child : at.children) {
      const Latency inner = latency(child);
      once.memory += inner.memory;
      once.loads += inner.loads;
      once.next = std::max(once.next, inner.next);
      once.rest += inner.rest;
    }
    if (!at.loop) return once;
    const Loop& loop = walk_.loops[*at.loop];
    switch (loop.bind) {
      case Bind::block:
      case Bind::thread:
      case Bind::vector:
        return once;
      case Bind::unroll:
        return {once.memory, once.loads * loop.extent, once.rest * loop.extent, once.next};
      case Bind::serial:
        return {0, 0, std::max(once.memory / ahead(at, once) + once.rest, once.next) * loop.longest, 0};
    }
    return {};
  }
  // Iterations whose loads are on their way together.
  double ahead(const Node& at, const Latency& once) const {
    if (at.barriers > 0 || (once.memory > SHARED && stores_running(at))) return 1;
    return std::clamp(AHEAD / std::max(once.loads, 1.0), 1.0, AHEAD);
  }
  // Whether an iteration stores what depends on those before it: measured, loads do not pass such stores.
  bool stores_running(const Node& at) const {
    return at.chain > 0 && std::ranges::any_of(at.accesses, [&](std::size_t number) {
             const Access& access = walk_.accesses[number];
             return access.store && access.place == loops::Place::memory;
           });
  }
  double memory_cycles() const { return machine_.memory.back().latency_seconds * machine_.clock_hertz; }

  const Walk& walk_;
  const machine::Machine& machine_;
  const double of_task_, blocks_;  // blocks of a task, and of all
  double resident_ = 1, waves_ = 1, busy_ = 1;
  double spilled_ = 0;  // registers that a thread has not
  double slots_ = 0, wavefronts_ = 0;
  double loaded_ = 0, narrow_ = 0;          // bytes of one task, and those of them by requests of half a line
  std::map<std::size_t, double> in_parts_;  // see Cache
};

}  // namespace

bool fits(const Walk& walk, const machine::Machine& machine) {
  const Shape shape = shape_of(walk);
  const double bytes = walk.shared_bytes + walk.threads * EXCHANGED_BYTES;
  return shape.threads <= machine.max_threads && shape.blocks <= machine.cluster_blocks &&
         (walk.shared_bytes == 0 ||
          (shape.blocks == 1 && bytes <= static_cast<double>(machine.scratch_bytes)));
}

double registers_of(const Walk& walk, const machine::Machine& machine) {
  return std::clamp(std::ceil(wanted_registers(walk) / 8) * 8, LEAST_REGISTERS,
                    most_registers(walk, machine));
}

double blocks_each(const Walk& walk, const machine::Machine& machine) {
  const double threads = std::max(shape_of(walk).threads, static_cast<double>(machine.warp_threads));
  const double by_threads = machine.threads_each / threads;
  const double by_registers =
      static_cast<double>(machine.registers_each) / (registers_of(walk, machine) * threads);
  const double by_shared = static_cast<double>(machine.scratch_bytes) / (walk.shared_bytes + RESERVED_BYTES);
  return std::max(1.0, std::floor(std::min({by_threads, by_registers, by_shared, MOST_BLOCKS})));
}

std::vector<Roof> roofs_of_blocks(const Walk& walk, const machine::Machine& machine) {
  return Blocks(walk, machine).roofs();
}

double written_for_blocks(const Walk& walk) {
  double all = 0;
  for (std::size_t node = 0; node < walk.nodes.size(); ++node) {
    const Node& at = walk.nodes[node];
    const double each =
        at.work.vector + at.work.scalar + at.work.lane + ADDRESS * static_cast<double>(at.accesses.size());
    all += walk.times(node, {Bind::unroll, Bind::vector}) * each;
  }
  return all;
}

}  // namespace twinloom::cost
