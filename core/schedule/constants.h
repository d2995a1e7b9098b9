// What the heuristics take for granted beyond the facts of machine::Machine: one table. A row has a unit and
// a reason, and what was measured for it; one without a measurement is a bound that was set by hand. What
// the estimate weighs are the parameters of heuristics.h. For the inside of this component.
#pragma once

#include <cstddef>
#include <cstdint>

namespace twinloom::schedule {

constexpr std::int64_t UNKNOWN_SIZE = 4096;    // what a size is taken for that nothing is known of
constexpr std::int64_t UNKNOWN_EXTENT = 1024;  // and an extent that only the run finds, as of a segment
constexpr std::int64_t TASKS_A_WORKER = 4;     // of a core: none waits long for the last
constexpr std::int64_t FLOAT_BYTES = 4;
constexpr int HEAVY_WORK = 12;          // an inner body whose copies cost code, not registers
constexpr std::int64_t WORD_BYTES = 4;  // of neighbours that a thread takes at once: they lie in one bank
// Of windows of so few elements it has registers for two words: averages of 2 x 2 of f32 took an H200 125 us by two
// neighbours a thread, 135 by one.
constexpr std::int64_t SMALL_WINDOW = 16;

// The search by estimates.
constexpr int MOST_ROUNDS = 2;  // over all parameters
// What the estimate must be, times that of the usual parameters, for other ones to be taken. Of 63 measured
// nests of an H200 and 41 of an H100 the least estimate was 0.8 to 0.9 of the first schedule's in 9, whose
// times were 0.85 of the first's (0.58 to 1.20), 0.9 to 0.95 in 8, 0.97 (0.78 to 1.13), and nearer in
// 80, 1.01. How long lists are that only the run knows no estimate tells. Of two cores, of 169 nests beside
// others, what has the least estimate below 0.6 of the first schedule's leaves nine of ten within 1.41 of the
// best, below 0.8 1.23; of graphs that PyTorch printed a backward pass of a group norm with convolutions then
// takes 1/13 of the time, of a U-Net 1/4.8, and none is slower by more than 3 %
// (perf/results/2026-11-29-cpu-columns.md).
constexpr double WORTH_ON_BLOCKS = 0.9, WORTH_OF_LISTS = 0.8, WORTH_ON_CORES = 0.8;
constexpr double LESS = 0.999;  // nearer to each other than that only the rounding of sums tells two apart

// Blocks of a multiprocessor that hide each other's loads of whole rows: two do not (cross_entropy_bf16).
constexpr std::int64_t SEVERAL_BLOCKS = 3;

// Cores: tasks, tiles and vectors.
constexpr std::int64_t LEAST_PART_UNITS = 16;  // units of 1024 of a part: it takes some microseconds
// Times as many parts of a symbolic size: others of its class are an eighth as long (means of 9 Mi bf16 by
// parts for 16 Mi took 1.4 times as long as by their own).
constexpr std::int64_t PARTS_OF_A_CLASS = 4;
constexpr double LONGEST_TASK = 1 << 15;       // iterations of an axis
constexpr std::int64_t LEAST_TILE_ROWS = 32, MOST_TILE_ROWS = 256;  // of a tile, by tasks
// The same where whole lines are stored a multiple of so many bytes apart, which share a few sets of the
// first cache. On an EPYC, ms by 256 rows and by 64: f32 [1024, 8192] 1.93 and 1.28, [4096, 600] 0.68 and
// 0.51, but [5000, 3000] 2.43 and 2.75; f16 1.89 and 1.30, bytes 1.94 and 1.26, keys of bf16 1024 bytes apart
// 0.117 and 0.079; half lines of bf16 1024 bytes apart 2.7 and 3.5.
constexpr std::int64_t MOST_CROWDED_ROWS = 64, FEW_SETS_BYTES = 1024;
constexpr std::int64_t TILE_COLUMNS = 64;                 // and its columns
// Registers that a sum in lock-step over few elements loads, all written out: means of 49 rows of f16 took
// 0.18 ms by loops, 0.031 by two registers so (196 of them: 0.033), and 18 and 39 ms to compile (80).
constexpr std::int64_t MOST_WRITTEN_OUT = 128;
constexpr std::int64_t LEAST_LONG_VECTORS = 16;  // registers side by side: else what is left over counts
// Instructions a byte from which on the operators of an element are long chains: below it memory takes half
// the time (gelu of one of two, 0.58 ms and 0.65). swiglu, of 5.2 a byte, takes 0.94 ms by four
// registers, 1.23 by one.
constexpr std::int64_t LONG_WORK_A_BYTE = 5;
// Bytes of each row that a panel reads at once: 256 bytes of rows 16 KiB apart took 1.7 times as long. And
// rows that it adds up beside each other by registers, of a light body: sums of columns of [4096, 3000]
// took 1.12 ms without a panel, 1.19 by 4 rows, 1.14 by 8, 1.36 by 16; of [8192, 2049] 3.7, 1.8, 1.9, 1.7.
constexpr std::int64_t PANEL_RUN_BYTES = 2048, PANEL_ACCUMULATORS = 8;
constexpr std::int64_t HIDDEN_LATENCY = 4;          // accumulators: cycles from one addition to the next
// Of the first cache, for accumulators in an array: sums of squares and of deviations of columns of 196 and
// 672 bf16 took 7.4 ms with 64 KiB of them, 4.1 with 32, 3.9 with 16, on a Xeon of 48 KiB.
constexpr std::int64_t ARRAY_L1_SHARE = 2;
// Instructions of bodies beside each other, and how many: by eight exponentials in place of one softmax of
// rows of 1000 takes 0.87 of the time, of 256 0.88, log-sum-exp of 16384 0.87, divergence 0.86 (by AVX2 0.93
// of all four). Columns side by side read whole lines of each row besides: softmax along the first axis takes
// 0.48 of the time by four registers.
constexpr std::int64_t MOST_BESIDE_WORK = 128, MOST_BESIDE = 8;
constexpr std::int64_t TUPLE_REGISTERS = 8;  // of a core, of which a tuple's accumulator takes one or two
constexpr int BARE_WORK = 2;                        // instructions of a body that is a sum and nothing else
constexpr int LEAST_MASKED_BYTES = 4;               // of an element that AVX2 loads and stores under a mask
constexpr std::int64_t VECTORS_OF_PARTS = 4;        // side by side in a part that sums up nothing
constexpr std::int64_t BLOCK_STEP = 8;              // rows: a block of several parts has a multiple of it
constexpr std::int64_t BLOCK_L2_SHARE = 2;          // of L2, for the arrays of a block beside the operands
constexpr std::int64_t MOST_BLOCK_BYTES = 1 << 20;  // of these arrays, on the stack of a thread
constexpr std::ptrdiff_t BLOCK_TRIES = 3;           // sizes of blocks that the estimate compares

// Cores: what is cached, fetched ahead and stored past the caches.
// Siblings that load a row: fewer find it as near in the cache (softmax with an array: a fifth slower).
constexpr std::size_t SEVERAL_READERS = 3;
// Instructions of a value from which on loading it from L2 is faster than computing it again (softmax_12288_bf16 1.07 ms, 0.61).
constexpr int FAR_WORK = 12;
constexpr std::int64_t FAR_L2_SHARE = 4, MOST_FAR_BYTES = 256 << 10;  // of them, on the stack of a thread
// Of rows that a list looks up, which are fetched while earlier elements of it are served; and what is far
// enough for that, times the second cache (an EPYC's of 1 MiB: 32,768 rows of 128 added to 100,000, 16
// MiB, 4.3 ms and 2.6; 1024 of 512 to 32,000, 2 MiB, 0.75 and 0.82).
constexpr std::int64_t MOST_ELEMENTS_AHEAD = 16, MOST_BYTES_AHEAD = 16384, NEAR_CACHES = 4;
constexpr std::int64_t LEAST_FETCHED_BYTES = 2048;  // of a row: a core fetches shorter ones by itself
// Of a last cache that many machines share, whose size the system tells, a worker has less: on two of the
// threads of a Xeon that says 480 MiB, sums of two arrays of 64 MiB took 5.4 ms with usual stores and 3.7
// with these, of 16 MiB the same.
// A transposed result as large as the caches is past them too: f32 [1024, 8192] 2.0 ms and 1.0; of others
// some take 0.77 of the time so, some 1.3 times as long.
constexpr std::int64_t MOST_CACHED_BYTES = 16 << 20;
// Bytes of an element of a tile that is stored past the caches: transposed bytes 4.1 ms, 2.9 so, 16-bit
// floats 2.6 and 2.5; f32 1.9 and 1.9, or 0.43 and 0.48. Results of a worker's share of the last cache or
// less are better left there: 4 MB of 16-bit floats on an EPYC 0.38 ms, 0.12 without.
constexpr int MOST_STREAMED_BYTES = 2;

// Bytes from an element of a tile to the next in memory, of which a warp then loads all that is near.
constexpr std::int64_t MOST_STEP_OF_TILE = 8;
// Iterations of an axis that fill no side of a tile, nor the threads of a block.
constexpr std::int64_t SHORT_AXIS = 64;

// Pointwise nests where blocks have threads; the times are those of an H100.
// Threads of a block whose threads take whole vectors; of other blocks there are twice as many. x + y of 100
// and 402 MB took 29.3 and 98.4 us by 256 threads on an H200, 28.5 and 97.5 by 128; a stencil of single
// elements 148 by 256 and 149 by 128 (perf/results/2026-11-29-h200-starts.md).
constexpr std::int64_t VECTOR_BLOCK_THREADS = 128;
constexpr std::int64_t ENOUGH_FOR_TWO = 8192;  // elements of an axis of which a thread may take two vectors
constexpr std::int64_t BLOCKS_OF_A_ROW = 8;    // that are left of an axis, where a thread takes two vectors
// Of all caches, in parts, what a load is at least of which blocks that load the same may follow each other.
constexpr double REPEATED_SHARE = 8;
// Bytes of each buffer that a thread has on its way, of several rows where those are short: pad_image_f32
// took 80 us by one element of 4 bytes, 64 by two, 60 by four, 61 by eight. Where places are looked up first
// a thread waits twice, and twice as many are worth it: embedding_positions_f16 took 68.3 us by one row of 16
// bytes a thread, 67.9 by two, 68.8 by four.
constexpr std::int64_t BYTES_OF_THREAD = 16;
constexpr std::int64_t MOST_ROWS = 4;  // of a thread
// Of blocks one after the other, that are left where a thread takes more rows.
constexpr std::int64_t ROUNDS = 4;
// Bytes that a thread moves at once where there are not blocks for all multiprocessors: small_gelu_f16 took
// 4.2 us by 16 bytes, 3.9 by 8 and by 4.
constexpr std::int64_t LEAST_BYTES = 8;
// Elements of a side of a tile, there: small_transpose_f32 took 4.3 us by sides of 64, 3.9 by 32, 4.0 by 16.
constexpr std::int64_t LEAST_TILE = 32;

// Accesses of a thread to a row of at most 256 elements that is kept in registers. Of softmax on an H200, us,
// by one of 16 bytes, two and four: bf16 [131072, 256] 44.9, 37.5, 37.5, [262144, 128] 44.6, 37.2, 38.1,
// [524288, 64] 43.3, 37.1, f16 [131072, 200] 50.1, 38.2, 33.5, f32 [65536, 256] -, 36.3, 36.0; of layer norm
// bf16 [131072, 256] 39.9, 37.1, 38.2, f32 [131072, 128] 37.2, 36.8, 37.4.
constexpr std::int64_t ACCESSES_OF_SHORT_ROW = 2;

// Rows that begin between words of memory: what a thread moves at once where it is aligned, and how many
// elements of a row there are at least, for what is cut off at its ends is walked by threads of its own.
constexpr std::int64_t PACKED_BYTES = 16, LEAST_ALIGNED = 2048;

// Columns by blocks; times of an H100, us.
// Columns of a block, and blocks of pointwise nests that one of theirs has the threads of: 131,072 rows of
// 1024 bf16 took 120 by 32 columns and 512 threads, 125 by 256 threads, 117 by 64 columns, 120 by 16, and 151
// by a thread each; 25,088 of 672 bf16 28, 33, 30, 29 and 42; 32,768 of 768 f32 51, 53, 67, 53 and 53. Bodies
// that need more registers are spilled: one of six inputs took 391, 78 by 256 threads with 156 registers.
// With two columns a thread and all registers of a multiprocessor (200,704, 50,176, 3136 of 256, 512, 2048
// bf16, five inputs and three sums): 261, 132, 69 by 32 threads beside each other and 512, 260, 135, 70 by 16
// and 256, 282, 140, 75 by a column each (perf/results/2026-11-28-columns-h100.md).
constexpr std::int64_t FEW_ROWS_BESIDE = 32, FEW_ROWS_BLOCKS = 2;
constexpr std::int64_t OWN_REGISTERS = 21;  // of a thread, for addresses and counters
constexpr double THREADS_OF_FEW_ROWS = 2;   // that each could have, at least, on a full machine

// Scans in parts.
// Passes: that for the accumulators computes and stores about half as much as that for the results.
constexpr double PASSES_OF_PARTS = 1.5;
// Times fewer threads are enough where each has rows of its own, and so several loads on their way.
constexpr double ROWS_IN_FLIGHT = 2;
constexpr std::int64_t LOADED_TOGETHER = 16;  // accumulators that a thread has in registers

// Totals of columns beside rows on a GPU (README: bytes and blocks by lanes).
constexpr std::int64_t MOST_COLUMN_LANES = 8;  // of a unit, that a block walks
constexpr std::int64_t ROW_REGISTERS = 56, TOTAL_REGISTERS = 8;  // of a thread, for each total (ptxas 13.0: 56 to 72)
// Of an H200, us, by 1, 2, 4 and 8 lanes: [8192, 2048] 64, 51, 45, 55 (0.97 waves by 4), [16384, 1024] 64, 52, 44, 52
// (by 4), [32768, 1024] 101, 90, 83, 79 (by 8); two totals of [32768, 768] 159, 147, 148, 166 (1.1 by 8), of [16384,
// 768] 88, 80, 88, 81 (1.1 by 4).
constexpr double MOST_OF_A_WAVE = 0.75, WAVE_AND_A_HALF = 1.5;
constexpr std::int64_t LEAST_GATHERED_WIDTH = 8;  // columns: a sector of memory
constexpr std::int64_t GATHERING_THREADS = 512;   // of a block that gathers

// Elements of one row that a thread sums up along a list. Most lists are empty or of one entry, and a block
// lasts as long as two loads, whatever it stores: gradients of 50,257 rows of 768 f32 by 8192 entries took an
// H200 185 us by blocks of a warp with 4 elements a thread, 97 by two warps, 68 by four with 8; by 32,768
// entries of bf16 185, 127, 112; of 30,522 rows of 1024 by 16,384 88 and 64. Of three rows at once 8 elements
// want more registers than there are: 50,400 rows of 4096 by 128 entries took 386 us by 4, 438 by 8, with all
// kernels (perf/results/2026-11-30-h200-training.md).
constexpr std::int64_t LIST_ELEMENTS = 8;

// Last units of lists. Those that most lists are as long as are loaded all at once by threads, up to 16: of
// 32,000 lists by 16,384 entries of 512 f32 an H200 took 36 us with 2 at once, 40 with 4, 73 to 89 with 8,
// and of 100,000 lists by 524,288 entries of 128 255 with 4, 138 with 8, 125 with 16. A core takes each
// masked element of a longer one too (index_add_rows_f32, a third of an element a list: 3.2 ms by 8 and
// 64, 2.6 by 2, 8 and 64).
constexpr std::int64_t MOST_AT_ONCE = 16, MOST_SHORT = 64;
constexpr double USUAL_LIST = 4;  // elements, where nothing is known

// Atomic updates that a block adds up in shared memory first.
constexpr std::int64_t UPDATING_THREADS = 256,
                       UPDATED_TOGETHER = 4;  // of a block; elements of a thread at once
constexpr std::int64_t MOST_UPDATED = 32768;  // places: 128 KiB of f32 leave a multiprocessor one block
constexpr double LEAST_UPDATES = 2;           // for each place, of a block: that is what adding it costs

// Values that are cached for later inner loop nests.
constexpr int LEAST_KEPT_WORK = 3;            // instructions: a store and a load cost about as much
// Of a core, without the loads of neighbours, with conversions: an array that spares less takes room in the
// first cache and stores. Layer norm with its backward pass, f32 [2048, 1024], 1.40 ms with arrays of
// products and differences, 1.04 without; of sums of two inputs 0.98 and 0.76. Sums of bf16, which are
// widened and rounded, 0.93 of the time with arrays, a masked softmax 0.8.
constexpr int LEAST_COMPUTED = 3;
// Instructions that a load takes for at a place that is looked up: a warp's is as many passes of a cache as
// lanes.
constexpr int LOOKED_UP_WORK = 32;
constexpr std::size_t MOST_KEPT_NODES = 500;  // of a sibling without Lets: the search is quadratic

// Which sizes ask for schedules of their own.
constexpr std::int64_t UNITS_SIDE_BY_SIDE = 4;  // by the warps of a row
// Elements of an axis that may be shorter than the vectors or the threads of a block that walk it.
constexpr std::int64_t MOST_SIDE = 256;

// Index sets: a rotary embedding by cat took half the time when its loop was cut.
constexpr std::int64_t MOST_CUT_VALUES = 256;  // of a body: it is written once for each loop
constexpr int MOST_CUT_LOOPS = 4;

}  // namespace twinloom::schedule
