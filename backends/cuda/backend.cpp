// The back end that cuda.h makes: emits, looks for kept machine code or compiles, loads.
#include <map>
#include <mutex>

#include "backends/cuda/cuda.h"
#include "backends/cuda/device_text.h"
#include "backends/cuda/dialect.h"
#include "backends/cuda/gpu.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/nvrtc.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/emit/emit.h"

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
        options_{gpu_.architecture(), {}},
        headers_(all_headers()),
        cache_(options.cache) {}

  std::string name() const override { return cat("cuda:", gpu_.device()); }
  std::string describe() const override {
    return cat(name(), ": ", gpu_.name(), ", ", options_.architecture, ", NVRTC ", nvrtc_.version().major,
               ".", nvrtc_.version().minor);
  }
  const machine::Machine& machine() const override { return machine_; }
  const runtime::Space* space() const override { return &gpu_; }

  runtime::Built build(const loops::Program& program) const override {
    Stopwatch watch;
    std::string source = emit::emit(program, dialect_, loops::print(program));
    const object_cache::Key key = key_of(program.name, source);
    std::optional<std::string> kept = cache_ == nullptr ? std::nullopt : cache_->find(key);
    const bool cached = kept.has_value();
    const std::string code = cached ? std::move(*kept) : compile(source, program.name);
    auto kernel = std::make_unique<const CudaKernel>(gpu_, program, code);
    if (!cached && cache_ != nullptr) cache_->store(key, code);
    return {std::move(kernel), std::move(source), watch.lap(), cached};
  }

  std::string warning() const override { return cache_ == nullptr ? std::string() : cache_->warning(); }

 private:
  std::string compile(const std::string& source, const std::string& name) const {
    return nvrtc_.compile(source, name, headers_, options_).bytes;
  }
  object_cache::Key key_of(const std::string& kernel, const std::string& source) const {
    std::uint64_t headers = 0;
    for (const Header& header : headers_)
      headers = mix_hash(mix_hash(headers, stable_hash(header.path)), stable_hash(header.text));
    return {{object_cache::kernel_field, kernel},
            {object_cache::target_field, cat("cuda ", options_.architecture)},
            {"compiler", nvrtc_.identity()},
            {"headers", cat(headers)},
            {"source", source}};
  }

  const Gpu& gpu_;
  machine::Machine machine_;
  NvrtcOptions options_;
  std::vector<Header> headers_;
  Nvrtc nvrtc_;
  CudaDialect dialect_;
  std::shared_ptr<const object_cache::ObjectCache> cache_;
};

}  // namespace

std::unique_ptr<runtime::Backend> make_cuda(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

std::vector<std::string> describe_devices() {
  std::vector<std::string> lines;
  try {
    for (int number = 0; number < Gpu::count(); ++number)
      lines.push_back(make_cuda({.device = number, .cache = nullptr})->describe());
    if (lines.empty()) lines.emplace_back("cuda: the driver sees no GPU");
  } catch (const Error& error) {
    lines.push_back(cat("cuda: ", error.what()));
  }
  return lines;
}

}  // namespace twinloom::cuda
