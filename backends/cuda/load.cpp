// See load.h; and the back end that loads and compiles nothing.
#include "backends/cuda/load.h"

#include <map>
#include <mutex>

#include "backends/cuda/cuda.h"
#include "backends/cuda/kernel.h"
#include "core/base/error.h"

namespace twinloom::cuda {

namespace {

class Loader final : public runtime::Backend {
 public:
  explicit Loader(int device) : gpu_(gpu_of(device)) {}

  std::string name() const override { return cat("cuda:", gpu_.device()); }
  std::string describe() const override { return cat(gpu_.name(), ", ", gpu_.architecture()); }
  const machine::Machine& machine() const override { return gpu_.machine(); }
  const runtime::Space* space() const override { return &gpu_; }
  runtime::Built build(const loops::Program& program) const override {
    throw Error(cat("kernel '", program.name,
                    "' is not compiled: this library runs what a package holds and compiles nothing"));
  }
  std::vector<std::string> targets() const override { return {target_of(gpu_.architecture())}; }
  std::unique_ptr<const runtime::Kernel> load(const loops::Program& program,
                                              const runtime::Code& code) const override {
    return load_kernel(gpu_, program, code);
  }

 private:
  const Gpu& gpu_;
};

}  // namespace

// Of a child the driver is asked first, for GPUs that are known and so that no other thread's lock is waited
// for.
const Gpu& gpu_of(int number) {
  Driver::get();
  static std::mutex mutex;
  static auto* const gpus = new std::map<int, std::unique_ptr<const Gpu>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const Gpu>& gpu = (*gpus)[number];
  if (gpu == nullptr) gpu = std::make_unique<const Gpu>(number);
  return *gpu;
}

std::string target_of(std::string_view architecture) { return cat("cuda ", architecture); }

std::unique_ptr<const runtime::Kernel> load_kernel(const Gpu& gpu, const loops::Program& program,
                                                   const runtime::Code& code) {
  if (code.size() != 2)
    throw Error(cat("kernel '", program.name, "' has ", code.size(), " pieces of machine code; expected 2"));
  const auto for_any = [&gpu, name = program.name, any = code[1]] {
    return std::make_unique<const Module>(gpu, any, name);
  };
  return std::make_unique<const CudaKernel>(
      gpu, program, std::make_unique<const Module>(gpu, code[0], program.name), for_any);
}

std::unique_ptr<runtime::Backend> make_loader(int device) { return std::make_unique<Loader>(device); }

Found found_devices(const std::function<std::shared_ptr<const runtime::Backend>(int number)>& make) {
  Found found;
  try {
    const int count = Gpu::count();
    if (count == 0) found.missing.emplace_back("cuda: the driver sees no GPU");
    for (int number = 0; number < count; ++number) {
      try {
        found.usable.push_back(make(number));
      } catch (const Error& error) {
        found.missing.push_back(cat("cuda: GPU ", number, ": ", error.what()));
      }
    }
  } catch (const Error& error) {
    found.missing.push_back(cat("cuda: ", error.what()));
  }
  return found;
}

}  // namespace twinloom::cuda
