// A program as a tree of loops with numbers: how often what is executed. For the inside of this room.
//
// A value is computed in the outermost loop that all it is made of allows, as emitters and compilers place
// it, and once where it stands several times. Masks count by the share of a sample of their loops' iterations
// for which they hold.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <vector>

#include "core/loops/loops.h"
#include "core/machine/machine.h"

namespace twinloom::cost {

// How an access moves with one of the loops around it, or with a digit of its counter: `below` iterations of
// the loop make one of the digit.
struct Step {
  std::size_t loop = 0;   // of Walk::loops
  double iterations = 1;  // of the digit
  double stride = 0;      // bytes
  double below = 1;
};

struct Access {
  loops::Buffer buffer;
  bool store = false;
  loops::Place place = loops::Place::memory;
  int bytes = 4;            // of an element
  double share = 1;         // of the iterations in which its mask holds
  bool found = false;       // at a place that only the run knows
  std::set<std::size_t> found_by;  // of blocks of threads: the loops of Walk::loops that change that place
  bool listed = false;             // inside a loop that is as long as a list of which only the run knows
  bool of_next = false;     // a load that only the next iteration of the serial loop around waits for
  bool streamed = false;    // past the caches
  std::int64_t start = 0;   // byte of the first iteration
  std::vector<Step> steps;  // loops around that move it, outermost first
  double most_bytes = 0;    // of the whole buffer
  std::size_t node = 0;     // in which it stands
};

// Instructions of one iteration, each for as many lanes as the iteration has.
struct Instructions {
  double vector = 0;  // arithmetic on elements: of 32 bits, and of 64 twice
  double scalar = 0;  // addresses, counters, conditions
  double lane = 0;    // of each lane on its own
  double apart = 0;   // of `lane`, quotients that each lane of a core's vector has on its own
};

struct Node {  // one loop with what stands in it, or the whole program
  std::size_t parent = 0;
  std::optional<std::size_t> loop;  // of Walk::loops; nothing at the root
  Instructions work;
  std::vector<std::size_t> accesses;  // of Walk::accesses, in order
  std::vector<std::size_t> children;  // of Walk::nodes, in order
  int barriers = 0,
      exchanges = 0;            // of threads: barriers of the block, and registers passed to other threads
  double chain = 0;             // combinations that wait for one another
  double accumulator_bytes = 0;  // of accumulators of a thread that are alive when one of its own is combined
  std::size_t chain_start = 0;  // of Walk::nodes: in which they begin again
};

struct Loop {
  index::Symbol axis;
  double extent = 1;
  loops::Bind bind = loops::Bind::serial;
  std::size_t node = 0;
  double longest = 1;  // the extent of the thread of a block that has most
};

struct Walk {
  std::vector<Loop> loops;
  std::vector<Node> nodes;  // the root first, parents before children
  std::vector<Access> accesses;
  bool outermost_fastest = false;  // of nested thread loops; else the innermost
  double blocks = 1, threads = 1;  // tasks, and threads of one
  double accumulator_bytes = 0;    // of accumulators that a thread keeps
  bool has_products = false;       // that are added to an accumulator without being rounded
  double array_bytes = 0;          // of arrays in registers, of a thread
  double shared_bytes = 0;         // of a block
  double call_bytes = 0;           // of a routine's operands
  double argument_bytes = 0;       // of all buffers but those inside

  // Iterations of all loops of one sort around a node, itself among them.
  double times(std::size_t node, std::initializer_list<loops::Bind> binds) const;
  // Threads that execute what stands in a node.
  double threads_at(std::size_t node) const;
  double threads_below(std::size_t node) const;  // that its inner loops ask for
  double threads_above(std::size_t node) const;  // that the loops around ask for
};

Walk walk_of(const loops::Program& program, const machine::Machine& machine, const index::Values& sizes);

}  // namespace twinloom::cost
