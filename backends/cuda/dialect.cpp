// See dialect.h.
#include "backends/cuda/dialect.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "backends/cuda/device/sort_step.h"
#include "backends/cuda/launch_bounds.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/loops/rewrite.h"

namespace twinloom::cuda {

std::string CudaDialect::before() const {
  return cat("#include \"cuda/routines.h\"\n", DeviceDialect::before());
}

// The kernel's buffers are arrays of their own, which is said by __restrict__: loads may be done before
// stores that stand above them. Not so those that may be one memory.
std::string CudaDialect::head(const loops::Program& program) const {
  std::vector<std::string> parameters;
  const auto is_shared = [&](const loops::Buffer& buffer) {
    return std::ranges::any_of(
        in_place_, [&](const loops::InPlace& pair) { return pair.from == buffer || pair.to == buffer; });
  };
  for (std::uint32_t at = 0; at < buffer_count(program); ++at)
    parameters.push_back(cat("void* ", is_shared(loops::Buffer{at}) ? "" : "__restrict__ ", "buffer_", at));
  for (std::size_t at = 0; at < program.sizes.size(); ++at) parameters.push_back(cat("i64 size_", at));
  parameters.emplace_back("FailureRecord* failure");
  if (routine_of(program) != nullptr) parameters.emplace_back("SortStep step");
  const std::int64_t blocks = cluster_blocks(program);
  return cat("extern \"C\" __global__ void __launch_bounds__(", launch_bounds(program), ") ",
             blocks == 1 ? "" : cat("__cluster_dims__(", blocks, ", 1, 1) "), function(program), "(",
             join(parameters, ", ", [](const std::string& text) { return text; }), ")");
}

namespace {

// The type of what tells where keys begin, too: it gathers elements of ranges where its sizes may ask for
// that.
std::string stable_sort(const loops::Call& sort) {
  const auto n = index::constant_of(loops::call_sizes(sort).n);
  return cat("StableSort<", !n || *n <= SORT_SHAPE.most_in_ranges() ? "true" : "false", ">");
}

// The type of what gives the order and nothing else: it has the tasks that its sizes may ask for.
std::string stable_order(const loops::Call& sort) {
  constexpr int MOST_BITS = 32;
  const loops::CallSizes sizes = loops::call_sizes(sort);
  const auto bound = index::constant_of(sizes.bound), n = index::constant_of(sizes.n);
  const int bits = bound && *bound > 0
                       ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*bound - 1)))
                       : MOST_BITS;
  const std::string_view tasks = !n ? "either" : *n <= ORDER_SHAPE.at_once() ? "rows" : "passes";
  return cat("StableOrder<", std::min(bits, MOST_BITS), ", OrderTasks::", tasks, ">");
}

}  // namespace

std::vector<std::string> CudaDialect::opening(const loops::Program& program) const {
  std::vector<std::string> lines = {"const Predecessors predecessors;"};
  std::ranges::move(block_opening(program), std::back_inserter(lines));
  return lines;
}

// What a block has before its tasks.
std::vector<std::string> CudaDialect::block_opening(const loops::Program& program) const {
  if (const loops::Call* const call = routine_of(program)) {
    CHECK(call->routine == loops::Routine::stable_sort, "a GPU has no routine but the sort");
    const std::string type = loops::has_starts(*call) ? stable_sort(*call) : stable_order(*call);
    return {cat("const ", type, " stable_sort{step, failure};")};
  }
  const machine::BlockShape shape = emit::block_shape(program);
  if (shape.threads == 1) return {};
  if (shape.blocks == 1) return {"const i64 thread = threadIdx.x;"};
  return {"__shared__ u64 exchange_barriers[2];", "Exchanges exchanges(exchange_barriers);",
          cat("const i64 thread = Exchanges::block() * ", shape.threads, " + threadIdx.x;")};
}

// A block has one task, or a cluster of them has.
std::string CudaDialect::task(const std::string& task, std::int64_t blocks) const {
  return cat("{ const i64 ", task, " = blockIdx.x", blocks == 1 ? "" : cat(" / ", blocks), ";");
}

// Of elements of 1 and 2 bytes NVRTC is not told that they are aligned: it made one load of four neighbours
// of 2 bytes, of which ptxas 13.0 and 13.5 took the last from a register that nothing had written.
std::string CudaDialect::argument(const std::string& type, ops::DType dtype, std::size_t buffer) const {
  const std::string pointer = cat("predecessors.wrote(buffer_", buffer, ")");
  const bool told = handed_ == Handed::usual && ops::size_of(dtype) >= 4;
  return cat("static_cast<", type, "*>(",
             told ? cat("__builtin_assume_aligned(", pointer, ", ", PACKED_BYTES, ")") : pointer, ")");
}
std::string CudaDialect::size(std::size_t number, const loops::SizeInfo& info) const {
  const std::string name = cat("size_", number);
  return is_small(info) ? cat("small(", name, ")") : name;
}
index::Range CudaDialect::range(const loops::SizeInfo& info) const {
  index::Range range = info.range;
  if (is_small(info)) range.high = std::min(range.high.value_or(INT64_MAX), LARGE_SIZE - 1);
  return range;
}
std::string CudaDialect::failure() const { return "failure"; }

// Of a pointer that a loop moves on, NVRTC does not see it.
std::string CudaDialect::array(const std::string& type, const std::string& name, const std::string& count,
                               loops::Place place) const {
  return cat(place == loops::Place::scratch ? "__shared__ " : "", type, " ", name, "[", count, "];");
}

// Of the scratch that a launch asks for, which may be more than the 48 KiB that a kernel can declare.
std::string CudaDialect::block_array(const std::string& type, const std::string& name, const std::string&,
                                     std::int64_t offset) const {
  return cat(type, "* const ", name, " = reinterpret_cast<", type, "*>(TWINLOOM_BLOCK_SCRATCH + ", offset, ");");
}

// See held().
std::string CudaDialect::loop(const std::string& counter, const std::string& bound) const {
  return cat("for (i64 ", counter, " = 0, end_", counter, " = held(", bound, "); ", counter, " < end_",
             counter, "; ++", counter, ") {");
}

}  // namespace twinloom::cuda
