// See kernel.h.
#include "backends/cpu/kernel.h"

#include <omp.h>

#include <algorithm>
#include <set>

#include "backends/cpu/floating_point.h"
#include "backends/cpu/packed_memory.h"
#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "core/emit/emit.h"
#include "core/loops/rewrite.h"
#include "core/runtime/tasks.h"

namespace twinloom::cpu {

namespace {

// What a worker needs to run a range of tasks.
struct Launch {
  emit::KernelFunction function;
  emit::Arguments arguments;
};

// Buffers with an offset that follows from an Index.
std::set<loops::Buffer> buffers_looked_up(const loops::Program& program) {
  std::set<index::Symbol> symbols;
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) symbols.insert(index->symbol);
  });
  std::set<loops::Buffer> found;
  loops::for_each_value(*program.body, [&](const loops::Value& value) {
    const auto* load = std::get_if<loops::Load>(&value.node);
    if (load != nullptr && std::ranges::any_of(symbols, [&](index::Symbol symbol) {
          return index::mentions(load->offset, symbol);
        }))
      found.insert(load->buffer);
  });
  return found;
}

void run_range(void* context, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  const FloatingPointScope scope;
  const auto* launch = static_cast<const Launch*>(context);
  launch->function(&launch->arguments, begin, end);
}

}  // namespace

void openmp_parallel_for(std::int64_t tasks, int threads, runtime::ParallelBody body, void* context) {
#pragma omp parallel num_threads(threads)
  {
    // There may be fewer threads than were asked for.
    const auto [begin, end] = runtime::tasks_of(omp_get_thread_num(), omp_get_num_threads(), tasks);
    body(context, begin, end);
  }
}

index::Expr task_count(const loops::Program& program) {
  const loops::Call* const call = loops::routine_of(program);
  if (call == nullptr) return emit::task_count(program);
  return index::greatest(1, loops::call_sizes(*call).rows);
}

CpuKernel::CpuKernel(const loops::Program& program, LoadedFunction code, const machine::Machine& machine)
    : code_(std::move(code)),
      task_count_(task_count(program)),
      constant_tasks_(index::constant_of(task_count_)),
      machine_(machine) {
  for (const loops::SizeInfo& size : program.sizes) sizes_.push_back(size.symbol);
  const std::set<loops::Buffer> looked_up = buffers_looked_up(program);
  for (unsigned at = 0; at < program.buffers.size(); ++at)
    if (const loops::BufferInfo& buffer = program.buffers[at]; !buffer.local)
      buffers_.push_back({ops::size_of(buffer.dtype), looked_up.contains(loops::Buffer{at})});
}

std::int64_t CpuKernel::tasks(std::span<const std::int64_t> sizes) const {
  CHECK(sizes.size() == sizes_.size(), "a kernel with ", sizes_.size(), " sizes was given ", sizes.size());
  if (constant_tasks_) return *constant_tasks_;
  index::Values values;
  for (std::size_t at = 0; at < sizes.size(); ++at) values[sizes_[at]] = sizes[at];
  return index::evaluate(task_count_, values);
}

int CpuKernel::threads_for(std::int64_t tasks, std::span<const runtime::Memory> arguments, int given) const {
  const int most = given > 0 ? given : machine_.blocks_at_once;
  if (most <= 1 || tasks <= 1) return 1;
  double bytes = 0;
  for (std::size_t at = 0; at < arguments.size(); ++at)
    bytes += static_cast<double>(arguments[at].last - arguments[at].first) * buffers_[at].element_bytes;
  return machine::workers_for(machine_, bytes, static_cast<double>(tasks), most);
}

std::unique_ptr<const runtime::Kernel> CpuKernel::with_constants(
    std::span<const runtime::ConstantArgument> arguments) const {
  constexpr std::size_t LEAST_COPIED = 64 << 10;
  std::unique_ptr<CpuKernel> made;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const auto& [memory, content] = arguments[at];
    if (content == nullptr || buffers_[at].is_looked_up || memory.first != 0) continue;
    const std::span bytes(static_cast<const std::byte*>(memory.data),
                          static_cast<std::size_t>(memory.last * buffers_[at].element_bytes));
    if (bytes.size() < LEAST_COPIED || !lies_in_file(bytes)) continue;
    auto copy = packed_memory({content, memory.data, bytes.size()}, [&](std::byte* elements) {
      std::ranges::copy(bytes, elements);
      unload(bytes);
    });
    if (made == nullptr) made.reset(new CpuKernel(*this));
    made->copies_.emplace(at, std::move(copy));
  }
  return made;
}

std::optional<runtime::Failure> CpuKernel::run(std::span<const runtime::Memory> arguments,
                                               std::span<const std::int64_t> sizes,
                                               const runtime::RunSettings& settings) const {
  CHECK(arguments.size() == buffers_.size(), "a kernel with ", buffers_.size(), " arguments was given ",
        arguments.size());
  const std::int64_t count = settings.tasks >= 0 ? settings.tasks : tasks(sizes);
  if (count <= 0) return std::nullopt;
  std::vector<void*> buffers;
  buffers.reserve(arguments.size());
  for (const runtime::Memory& memory : arguments) buffers.push_back(memory.data);
  for (const auto& [argument, copy] : copies_) buffers[argument] = copy.get();
  emit::FailureRecord failure;
  Launch launch{code_.function,
                {buffers.data(), reinterpret_cast<const emit::Integer*>(sizes.data()), &failure}};
  const int threads = threads_for(count, arguments, settings.threads);
  if (threads == 1)
    run_range(&launch, 0, count);
  else if (settings.parallel_for != nullptr)
    (*settings.parallel_for)(count, threads, run_range, &launch);
  else
    openmp_parallel_for(count, threads, run_range, &launch);
  if (failure.claimed == 0) return std::nullopt;
  return runtime::Failure{static_cast<int>(failure.node), failure.value, failure.bound, failure.offset};
}

}  // namespace twinloom::cpu
