// See kernel.h.
#include "backends/cuda/kernel.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backends/cuda/launch.h"
#include "backends/cuda/sort.h"
#include "backends/cuda/stream_memory.h"
#include "core/emit/abi.h"
#include "core/emit/emit.h"
#include "core/emit/names.h"
#include "core/loops/rewrite.h"

namespace twinloom::cuda {

Module::Module(const Gpu& gpu, const std::string& cubin, const std::string& name) : gpu_(gpu) {
  const Gpu::Scope scope(gpu);
  const Driver& driver = gpu.driver();
  driver.check(driver.cuModuleLoadData(&module_, cubin.data()), cat("the machine code of ", name));
  driver.check(driver.cuModuleGetFunction(&function_, module_, emit::function_name(name).c_str()),
               cat("the kernel of ", name));
}

Module::~Module() {
  gpu_.release([&](const Driver& driver) { driver.cuModuleUnload(module_); });
}

CudaKernel::CudaKernel(const Gpu& gpu, const loops::Program& program, std::unique_ptr<const Module> usual,
                       ModuleForAny module_for_any)
    : gpu_(gpu),
      name_(program.name),
      usual_(std::move(usual)),
      module_for_any_(std::move(module_for_any)),
      block_count_(cuda::block_count(program, gpu.machine().multiprocessors)),
      sizes_(program.sizes),
      threads_(static_cast<unsigned>(block_threads(program))),
      scratch_bytes_(static_cast<unsigned>(shared_bytes(program))) {
  if (const loops::Call* const call = routine_of(program)) {
    sorted_ = loops::call_sizes(*call);
    has_starts_ = loops::has_starts(*call);
  }
  may_fail_ = loops::looks_up_indices(*program.body);
  allow_scratch(*usual_);
}

index::Values CudaKernel::values_of(std::span<const std::int64_t> sizes) const {
  CHECK(sizes.size() == sizes_.size(), name_, " has ", sizes_.size(), " sizes and was given ", sizes.size());
  index::Values values;
  for (std::size_t at = 0; at < sizes.size(); ++at) values[sizes_[at].symbol] = sizes[at];
  return values;
}

std::int64_t CudaKernel::tasks(std::span<const std::int64_t> sizes) const {
  const std::int64_t count = index::evaluate(block_count_, values_of(sizes));
  if (count > std::numeric_limits<int>::max())
    throw Error(cat("kernel ", name_, " has ", count, " blocks; a GPU takes 2^31 - 1 at once"));
  return count;
}

// More than the 48 KiB that a kernel may ask for unasked.
void CudaKernel::allow_scratch(const Module& module) const {
  const Gpu::Scope scope(gpu_);
  gpu_.check(gpu_.driver().cuFuncSetAttribute(module.function(),
                                              CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              static_cast<int>(scratch_bytes_)),
             cat(scratch_bytes_, " bytes of shared memory for ", name_));
}

bool CudaKernel::is_usual(std::span<const runtime::Memory> arguments,
                          std::span<const std::int64_t> sizes) const {
  for (std::size_t at = 0; at < sizes.size(); ++at)
    if (sizes[at] >= LARGE_SIZE && is_size(sizes_[at])) return false;
  return std::ranges::all_of(arguments, [](const runtime::Memory& memory) {
    return reinterpret_cast<std::uintptr_t>(memory.data) % PACKED_BYTES == 0;
  });
}

CUfunction CudaKernel::any_function() const {
  std::call_once(any_is_made_, [&] {
    any_ = module_for_any_();
    allow_scratch(*any_);
  });
  return any_->function();
}

// The start of a kernel is hidden behind the end of the one before it, which it waits for itself
// (Predecessors of device/routines.h): 40 small kernels took 34 us in place of 74 on an H200, two of 8192
// blocks 15.4 in place of 16.5.
void CudaKernel::launch(CUfunction function, std::vector<void*> words, std::int64_t blocks,
                        const CudaWork& work) const {
  std::size_t bytes = words.size() * sizeof(void*);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, words.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CUlaunchAttribute overlap{};
  overlap.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  overlap.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<unsigned>(blocks), config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads_, config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = scratch_bytes_;
  config.hStream = work.cuda_stream();
  config.attrs = &overlap, config.numAttrs = work.may_overlap() ? 1 : 0;
  const CUresult result = gpu_.driver().cuLaunchKernelEx(&config, function, nullptr, extra);
  if (result != CUDA_SUCCESS) gpu_.check(result, cat("the launch of ", name_));
}

// Several launches of one kernel, each with what it does as its last parameter.
void CudaKernel::sort(CUfunction function, const std::vector<void*>& words,
                      std::span<const std::int64_t> sizes, const CudaWork& work) const {
  const index::Values values = values_of(sizes);
  const auto size = [&](const index::Expr& expr) { return index::evaluate(expr, values); };
  const SortPlan plan({size(sorted_->rows), size(sorted_->n), size(sorted_->bound), has_starts_},
                      {std::int64_t{gpu_.machine().multiprocessors} * SORT_BLOCKS_EACH,
                       machine::cache_bytes(gpu_.machine())});
  if (!plan.refusal().empty()) throw Error(plan.refusal());
  std::optional<StreamMemory> workspace;
  if (const std::int64_t bytes = plan.workspace_bytes(); bytes > 0)
    workspace.emplace(gpu_, bytes, work.cuda_stream(), cat("the sort of ", name_));
  for (const SortLaunch& each : plan.launches(workspace ? workspace->data() : nullptr)) {
    constexpr std::size_t STEP_WORDS = sizeof(SortStep) / sizeof(void*);
    std::vector<void*> all = words;
    all.resize(words.size() + STEP_WORDS);
    std::memcpy(all.data() + words.size(), &each.step, sizeof(SortStep));
    launch(function, std::move(all), each.blocks, work);
  }
}

std::optional<runtime::Failure> CudaKernel::run(std::span<const runtime::Memory> arguments,
                                                std::span<const std::int64_t> sizes,
                                                const runtime::RunSettings& settings) const {
  CHECK(settings.work != nullptr, name_, " was started outside of a run");
  auto& work = static_cast<CudaWork&>(*settings.work);
  const std::int64_t count = settings.tasks >= 0 ? settings.tasks : tasks(sizes);
  if (count <= 0) return std::nullopt;
  const CUfunction function = is_usual(arguments, sizes) ? usual_->function() : any_function();
  const Gpu::Scope scope(gpu_);
  auto words = parameter_words(arguments, sizes, may_fail_ ? work.record() : nullptr);
  if (!sorted_)
    launch(function, std::move(words), count, work);
  else
    sort(function, words, sizes, work);
  return std::nullopt;
}

std::optional<runtime::Resources> CudaKernel::resources() const {
  const Gpu::Scope scope(gpu_);
  const Driver& driver = gpu_.driver();
  const auto attribute = [&](CUfunction_attribute which) {
    int value = 0;
    gpu_.check(driver.cuFuncGetAttribute(&value, which, usual_->function()), cat("the kernel ", name_));
    return value;
  };
  runtime::Resources resources{.registers = attribute(CU_FUNC_ATTRIBUTE_NUM_REGS),
                               .spill_bytes = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
                               .scratch_bytes = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) + static_cast<int>(scratch_bytes_),
                               .threads = static_cast<int>(threads_)};
  gpu_.check(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&resources.blocks_each, usual_->function(),
                                                                resources.threads, scratch_bytes_),
             cat("the kernel ", name_));
  return resources;
}

}  // namespace twinloom::cuda
