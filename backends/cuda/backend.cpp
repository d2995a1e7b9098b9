// The back end that cuda.h makes: emits, looks for kept machine code or compiles, loads.
#include "backends/cuda/cuda.h"
#include "backends/cuda/gpu.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/library_kernel.h"
#include "backends/cuda/load.h"
#include "backends/cuda/translate.h"
#include "core/base/make_once.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/machine/gpu.h"
#include "core/object_cache/key.h"

namespace twinloom::cuda {

namespace {

struct Loaded {
  std::unique_ptr<const Module> module;
  bool cached = false;  // the machine code was kept by an earlier build
};

// Looks for kept machine code or compiles, and loads. Thread-safe; kernels share it with their back end.
class Loader {
 public:
  Loader(const Gpu& gpu, std::shared_ptr<const object_cache::ObjectCache> cache)
      : gpu_(gpu), translator_(gpu.architecture()), cache_(std::move(cache)) {}

  const Translator& translator() const { return translator_; }
  std::string warning() const { return cache_ == nullptr ? std::string() : cache_->warning(); }

  Loaded load(const KernelText& text, const std::string& name) const {
    if (auto kept = load_kept(text, name)) return {std::move(kept), true};
    return {compile(text, name), false};
  }

 private:
  // Null where none is kept, or one that the GPU refuses, which is then compiled.
  std::unique_ptr<const Module> load_kept(const KernelText& text, const std::string& name) const {
    if (cache_ == nullptr) return nullptr;
    const std::optional<std::string> code = cache_->find(text.key);
    if (!code) return nullptr;
    try {
      return std::make_unique<const Module>(gpu_, *code, name);
    } catch (const Error&) {
      cache_->remove(text.key);
      return nullptr;
    }
  }

  // What cannot be loaded is not kept. Graphs that are compiled side by side often have kernels in common.
  std::unique_ptr<const Module> compile(const KernelText& text, const std::string& name) const {
    std::unique_ptr<const Module> module;
    const std::string code = making_.get(object_cache::text_of(text.key, object_cache::source_field), [&] {
      std::string made = translator_.object(text, name);
      module = std::make_unique<const Module>(gpu_, made, name);
      if (cache_ != nullptr) cache_->store(text.key, made);
      return made;
    });
    return module != nullptr ? std::move(module) : std::make_unique<const Module>(gpu_, code, name);
  }

  const Gpu& gpu_;
  Translator translator_;
  std::shared_ptr<const object_cache::ObjectCache> cache_;
  mutable MakeOnce making_;  // by source: a back end has one compiler
};

class CudaBackend final : public runtime::Backend {
 public:
  explicit CudaBackend(const CudaOptions& options)
      : gpu_(gpu_of(options.device)),
        known_(machine::known(machine_with_library(gpu_.machine()), options.calibrations)),
        loader_(std::make_shared<const Loader>(gpu_, options.cache)) {}

  std::string name() const override { return cat("cuda:", gpu_.device()); }
  std::string describe() const override {
    const Translator& translator = loader_->translator();
    const Nvrtc::Version version = translator.nvrtc().version();
    return cat(gpu_.name(), ", ", translator.architecture(), ", NVRTC ", version.major, ".", version.minor);
  }
  const machine::Machine& machine() const override { return known_.machine; }
  const runtime::Space* space() const override { return &gpu_; }

  bool has_library_for(const loops::Program& nest) const override {
    return LibraryKernel::serves(gpu_, nest);
  }
  runtime::Built build(const loops::Program& program) const override { return build_in_place(program, {}); }
  runtime::Built build_in_place(const loops::Program& program,
                                std::span<const loops::InPlace> in_place) const override {
    Stopwatch watch;
    if (program.library) {
      auto call = std::make_unique<const LibraryKernel>(gpu_, program);
      return {std::move(call), {}, watch.lap(), false};
    }
    KernelText text = loader_->translator().text(program, Handed::usual, in_place);
    Loaded usual = loader_->load(text, program.name);
    const auto for_any = [loader = loader_, program, pairs = std::vector(in_place.begin(), in_place.end())] {
      const KernelText any = loader->translator().text(program, Handed::any, pairs);
      return loader->load(any, program.name).module;
    };
    auto kernel = std::make_unique<const CudaKernel>(gpu_, program, std::move(usual.module), for_any);
    return {std::move(kernel), runtime::written(std::move(text.source)), watch.lap(), usual.cached};
  }

  std::vector<std::string> targets() const override { return {target_of(gpu_.architecture())}; }
  std::unique_ptr<const runtime::Kernel> load(const loops::Program& program,
                                              const runtime::Code& code) const override {
    return load_kernel(gpu_, program, code);
  }

  std::string warning() const override {
    return known_.trouble.empty() ? loader_->warning() : known_.trouble;
  }

 private:
  const Gpu& gpu_;
  machine::Known known_;
  std::shared_ptr<const Loader> loader_;
};

class PlannedKernel final : public runtime::Kernel {
 public:
  std::optional<runtime::Failure> run(std::span<const runtime::Memory>, std::span<const std::int64_t>,
                                      const runtime::RunSettings&) const override {
    throw Error("the device 'h200' only plans: nothing can be run on it; cuda:N is a GPU that is there");
  }
};

class Planner final : public runtime::Backend {
 public:
  std::string name() const override { return "h200"; }
  std::string describe() const override { return "plans for an NVIDIA H200 (sm_90a), runs nothing"; }
  const machine::Machine& machine() const override { return machine_; }
  runtime::Built build(const loops::Program& program) const override { return build_in_place(program, {}); }
  runtime::Built build_in_place(const loops::Program& program,
                                std::span<const loops::InPlace> in_place) const override {
    return {
        std::make_unique<const PlannedKernel>(),
        runtime::written(emit::emit(program, CudaDialect(Handed::usual, in_place), loops::print(program)))};
  }

 private:
  machine::Machine machine_ = machine::h200();
};

}  // namespace

std::unique_ptr<runtime::Backend> make_planner() { return std::make_unique<Planner>(); }

std::unique_ptr<runtime::Backend> make_cuda(const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

Found find_devices(const std::shared_ptr<const object_cache::ObjectCache>& cache,
                   const machine::Calibrations& calibrations) {
  return found_devices([&](int number) {
    return make_cuda({.device = number, .cache = cache, .calibrations = calibrations});
  });
}

}  // namespace twinloom::cuda
