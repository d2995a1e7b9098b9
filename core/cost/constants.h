// What estimates take for granted beyond the facts of machine::Machine: one table. Those of blocks were
// fitted to 2,269 programs of 119 kernels that `perf/regret` measured on an H200 (how, and how well they do
// on others, stands in perf/results/2026-11-24-breadth.md), and again to 5,661 of 358 kernels
// (perf/results/2026-11-30-h200-estimates.md). Those of vectors were fitted to two thirds of 729
// programs of 82 nests on a Xeon with AVX-512, by one thread and two: see
// perf/results/2026-11-25-estimates-cpu.md. For the inside of this room.
#pragma once

namespace twinloom::cost::constants {

// Of all machines.
constexpr double DIVISION =
    6;  // instructions of a quotient or remainder by a number: multiply, shift, correct
constexpr double UNKNOWN_DIVISION = 24;  // of one by a size that only the run knows
constexpr double LOOP = 2;               // instructions of an iteration of a loop: its counter and the branch
constexpr double INDEX = 3;              // of the check of an index that was found at run time
constexpr double PUSH = 4;               // of a push onto a stack, besides its combinations
constexpr int SAMPLE = 64;               // iterations that a mask is tried for: its share is known to 1/64
constexpr int MOST_BLOCKS_TRIED = 16;    // iterations of the loops around that an extent is the mean of
constexpr unsigned MOST_DIGITS = 4;  // that one axis is taken apart into where an offset is not linear in it
constexpr double INTEGER_PRODUCTS = 4;  // of 8 bits that a library sums up while it does one of f32: VNNI
constexpr double SHARPNESS = 2.75;      // of roofs: the time is this root of the sum of these powers

// Of blocks of threads: instructions are slots of a warp, times are cycles of the clock.
constexpr double ADDRESS = 5.5;  // slots of a memory access: itself and what its address takes
constexpr double EXCHANGE = 3;  // slots of passing a register to another thread: shuffle, select, move
constexpr double OVERLAP =
    0.94;                       // cycles of a slot: units that work side by side count as one after the other
constexpr double PASS = 1.5;    // cycles of a pass of a warp's request through the first cache
constexpr double CONVERGE = 4;  // slots of a barrier, of each warp
constexpr double BARRIER = 50;  // cycles that a barrier takes at least
constexpr double BARRIER_WARP = 2;  // and for each warp that comes to it
constexpr double EXCHANGED = 14;    // cycles from a register of one thread to that of another
constexpr double DEPENDENT = 1;     // cycles of a combination that waits for the last, besides its slots
constexpr double SLOT = 2.5;        // cycles of a slot of a warp that is alone
constexpr double AHEAD = 12;        // loads of a thread that a serial loop has in flight together
constexpr double SHARED = 16;       // cycles from shared memory to a register
constexpr double STARTED = 1.05;    // cycles of the whole machine from the start of one block to the next
constexpr double LAST_WAVE = 0.5;   // share of a whole wave that the last, partly filled one takes
constexpr double BUSY = 0.8;        // share of all multiprocessors that reach the memory's whole bandwidth
// Threads of a multiprocessor whose loads reach the memory's whole bandwidth. By one block of 256 each, 103
// and 154 MB took 52 and 81 us on an H200, 0.45 of it; by four of 128, 268 MB took 71, and by one of 1024,
// 411 MB 105 (perf/results/2026-11-29-h200-starts.md).
constexpr double LOADING_THREADS = 512;
constexpr double LONG_LOADS = 2048;  // bytes of a thread that are more than it has on its way at once
// Share of the time that memory takes beyond where warps that do nothing but sum up load half a line at once:
// a multiprocessor has so many requests on their way, not so many bytes. Sums of columns of bf16 by single
// elements took an H200 1.29 of the time by pairs; of 18 kernels whose schedule it changed 14 were faster,
// 0.77 to 0.99, and two slower by 3 %, two by up to 16 % (perf/results/2026-11-30-h200-rows.md).
constexpr double NARROW = 0.3;
// Share of the last cache that holds what blocks leave for later ones, beside what passes by: of a row that
// was added to 12 others an H200 with 60 MiB read all from its cache that came back after 25 MB, two thirds
// after 38, a seventh after 50 and nothing after 63 (the same page).
constexpr double REUSED = 0.6;
constexpr double FILLED = 0.5;      // share of a sector from which on the rest meets it in the cache
constexpr double LINE_BYTES = 128;  // of the first cache: what one pass of it looks at
constexpr double FAR = 1 << 20;     // bytes between places of which only the run knows where they are
constexpr double BANK_BYTES = 4;    // of shared memory
constexpr double BANKS = 32;
constexpr double QUEUE = 3.5;         // of a warp's accesses of banks by chance: the longest one, on average
constexpr double OWN_REGISTERS = 21;  // of a thread, for addresses and counters
constexpr double LEAST_REGISTERS = 16, MOST_REGISTERS = 255, REGISTER_BYTES = 4;
constexpr double PREDICATES = 7;  // of a thread: so many loads inside of masks are on their way together
constexpr double EXCHANGED_BYTES =
    16;  // of shared memory, of each thread: a pair of 64 bits on its way to others
constexpr double RESERVED_BYTES = 1024;  // of shared memory, of each block
constexpr double MOST_BLOCKS = 32;       // of a multiprocessor

// Share of a launch that each program of a kernel after its first takes, as it starts while the one before ends: 40
// kernels of an H200 followed each other 1 us faster so, a sum of 25,600 elements by two still takes 0.7 us longer
// than by one block (perf/results/2026-11-29-h200-starts.md).
constexpr double NEXT_START = 0.8;

// Of vectors: instructions are those of one register, times are cycles of a core.
constexpr double SHARPNESS_OF_VECTORS =
    1.5;                         // in place of SHARPNESS: a core hides less behind its longest roof
constexpr double LANE_BYTES = 4;  // of an element in a register
constexpr double SCALAR = 0.4;   // of a vector instruction: more units execute them
constexpr double GATHER = 2.3;   // instructions of an element that is no neighbour of the last
// Instructions of text besides each of a quotient that each lane has on its own: LLVM takes 12 s for 65,000
// instructions of vectors (random numbers in 128 of 32 lanes), for those of 128, 256 and 512 lanes with four
// such quotients, lookups and gathers 1.9, 10 and over 120 s.
constexpr double TEXT_OF_APART = 3;
constexpr double CHECKED = 4;    // of an index that was found at run time, for each lane that has its own
constexpr double HALVING = 2.5;  // that bring the halves of a register side by side
constexpr double SQUARE = 16,
                 SQUARE_BYTES = 64;  // most rows, and bytes of one, of what is transposed in registers
constexpr double SPILLED = 6;   // of a combination whose accumulator is kept in memory: store, load, and wait
constexpr double LOADED_AND_STORED = 2;  // of a combination with an accumulator that is an array's element
constexpr double WORKING = 16;  // registers that a loop needs besides those of its accumulators
constexpr double WORKING_OF_PRODUCTS =
    4;                             // the same where factors are loaded by the instruction that adds them
constexpr double ADD_LATENCY = 4;  // cycles from one instruction of a combination to the next
constexpr double LONGEST_CHAIN =
    2;                            // instructions of a combination that wait for the last one; others do not
constexpr double WINDOW = 832;    // instructions that a core looks at together: chains in it run side by side
constexpr double PAGE = 4096;     // bytes: the first cache is as many ways as it has pages
constexpr double WAYS = 16;       // lines of one set of a larger cache, at least
constexpr double SET_SHARE = 0.5;  // of the ways of a set that one access has beside the others
constexpr double STREAMS = 32;    // runs of neighbours that a core fetches ahead of at the same time
constexpr double IN_FLIGHT = 12;  // lines that a core waits for at once where they are no neighbours
constexpr double PAGES_IN_FLIGHT = 4;  // the same where each is in a page of its own
constexpr double FRESH = 0.8;  // share of stores past a core's own caches whose lines come from memory:
                               // results are new memory
constexpr double CALLED = 3;  // bytes that a routine moves for each of its operands

}  // namespace twinloom::cost::constants
