// The roofs of a walk on each sort of machine. For the inside of this room.
#pragma once

#include "core/cost/estimate.h"
#include "core/cost/walk.h"

namespace twinloom::cost {

// Without the launch.
std::vector<Roof> roofs_of_blocks(const Walk& walk, const machine::Machine& machine);   // blocks of threads
std::vector<Roof> roofs_of_vectors(const Walk& walk, const machine::Machine& machine);  // cores with vectors

// Instructions of the program's text, about: those of an unrolled loop once for each iteration.
double written_for_blocks(const Walk& walk);
double written_for_vectors(const Walk& walk, const machine::Machine& machine);

// Cores that share the tasks.
double workers_of(const Walk& walk, const machine::Machine& machine);

// Whether a block is as large as the machine runs: its threads, and its arrays with what threads exchange.
bool fits(const Walk& walk, const machine::Machine& machine);

// Registers that a thread is expected to take, and blocks that a multiprocessor then runs at once.
double registers_of(const Walk& walk, const machine::Machine& machine);
double blocks_each(const Walk& walk, const machine::Machine& machine);

}  // namespace twinloom::cost
