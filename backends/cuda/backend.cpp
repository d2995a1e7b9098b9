// The back end that cuda.h makes: emits, looks for kept machine code or compiles, loads.
#include <map>
#include <mutex>

#include "backends/cuda/cuda.h"
#include "backends/cuda/gpu.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/translate.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"

namespace twinloom::cuda {

namespace {

// Never destroyed: memory may be given back until the process ends.
const Gpu& gpu_of(int number) {
  static std::mutex mutex;
  static auto* const gpus = new std::map<int, std::unique_ptr<const Gpu>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const Gpu>& gpu = (*gpus)[number];
  if (gpu == nullptr) gpu = std::make_unique<const Gpu>(number);
  return *gpu;
}

class CudaBackend final : public runtime::Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : gpu_(gpu_of(options.device)),
        machine_(gpu_.machine()),
        translator_(gpu_.architecture()),
        cache_(options.cache) {}

  std::string name() const override { return cat("cuda:", gpu_.device()); }
  std::string describe() const override {
    const Nvrtc::Version version = translator_.nvrtc().version();
    return cat(gpu_.name(), ", ", translator_.architecture(), ", NVRTC ", version.major, ".", version.minor);
  }
  const machine::Machine& machine() const override { return machine_; }
  const runtime::Space* space() const override { return &gpu_; }

  runtime::Built build(const loops::Program& program) const override {
    Stopwatch watch;
    KernelText text = translator_.text(program);
    std::unique_ptr<const CudaKernel> kernel = load_kept(text, program);
    const bool cached = kernel != nullptr;
    if (!cached) kernel = compile(text, program);
    return {std::move(kernel), std::move(text.source), watch.lap(), cached};
  }

  std::string warning() const override { return cache_ == nullptr ? std::string() : cache_->warning(); }

 private:
  // Null where none is kept, or one that the GPU refuses, which is then compiled.
  std::unique_ptr<const CudaKernel> load_kept(const KernelText& text, const loops::Program& program) const {
    if (cache_ == nullptr) return nullptr;
    const std::optional<std::string> code = cache_->find(text.key);
    if (!code) return nullptr;
    try {
      return std::make_unique<const CudaKernel>(gpu_, program, *code);
    } catch (const Error&) {
      cache_->remove(text.key);
      return nullptr;
    }
  }

  // What cannot be loaded is not kept.
  std::unique_ptr<const CudaKernel> compile(const KernelText& text, const loops::Program& program) const {
    const std::string code = translator_.object(text, program.name);
    auto kernel = std::make_unique<const CudaKernel>(gpu_, program, code);
    if (cache_ != nullptr) cache_->store(text.key, code);
    return kernel;
  }

  const Gpu& gpu_;
  machine::Machine machine_;
  Translator translator_;
  std::shared_ptr<const object_cache::ObjectCache> cache_;
};

}  // namespace

std::unique_ptr<runtime::Backend> make_cuda(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> lines;
  try {
    for (int number = 0; number < Gpu::count(); ++number) {
      const auto gpu = make_cuda({.device = number, .cache = nullptr});
      lines.push_back(cat(gpu->name(), ": ", gpu->describe()));
    }
    if (lines.empty()) lines.emplace_back("cuda: the driver sees no GPU");
  } catch (const Error& error) {
    lines.push_back(cat("cuda: ", error.what()));
  }
  return lines;
}

}  // namespace twinloom::cuda
