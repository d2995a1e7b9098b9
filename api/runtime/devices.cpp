// The list of back ends of libtwinloom_runtime.so, which runs what packages hold and compiles nothing. It
// stands in the place of api/devices.cpp and api/compile.cpp.
#include <array>

#include "api/compile.h"
#include "api/device_names.h"
#include "api/devices.h"
#include "backends/cpu/cpu.h"
#include "core/base/error.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/cuda.h"
#endif

namespace twinloom {

Device Device::cpu(const CpuOptions& options) {
  cpu::CpuOptions settings;
  settings.isa = options.isa;
  return Device(cpu::make_loader(settings));
}

#ifdef TWINLOOM_HAS_CUDA
Device Device::cuda(int number, bool) { return Device(cuda::make_loader(number)); }
#else
Device Device::cuda(int, bool) {
  throw Error("cuda: Twinloom was built where CUDA's headers were not found");
}
#endif

Device Device::named(std::string_view name, const CpuOptions& options) {
  constexpr std::array<std::string_view, 2> names = {"cpu", "cuda"};
  if (name == names[0]) return cpu(options);
  if (const auto number = gpu_number(name)) return cuda(*number, options.cache);
  fail_unknown_device(name, names, "cpu and cuda:N in a library that compiles nothing");
}

std::vector<Device> devices() {
  std::vector<Device> found;
#ifdef TWINLOOM_HAS_CUDA
  const auto make = [](int number) -> std::shared_ptr<const runtime::Backend> {
    return cuda::make_loader(number);
  };
  for (auto& backend : cuda::found_devices(make).usable) found.push_back(Device::of(std::move(backend)));
  sort_by_bandwidth(found);
#endif
  found.push_back(Device::cpu());
  return found;
}

Executable::Maker maker_for(const Device&, const CompileOptions&) { return {}; }

}  // namespace twinloom
