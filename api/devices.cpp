// The list of back ends that were built. See devices.h.
#include "api/devices.h"

#include <array>

#include "api/calibrations.h"
#include "api/device_names.h"
#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/object_cache/object_cache.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/cuda.h"
#endif

namespace twinloom {

namespace {

std::shared_ptr<const object_cache::ObjectCache> usual_cache(bool wanted) {
  if (!wanted) return nullptr;
  return std::make_shared<const object_cache::ObjectCache>(object_cache::options_from_environment());
}

}  // namespace

Device Device::cpu(const CpuOptions& options) {
  cpu::CpuOptions settings;
  settings.isa = options.isa;
  settings.cache = usual_cache(options.cache);
  settings.calibrations = kept_calibration;
  return Device(cpu::make_cpu(settings), settings.cache);
}

#ifdef TWINLOOM_HAS_CUDA
Device Device::cuda(int number, bool cache) {
  auto kept = usual_cache(cache);
  return Device(cuda::make_cuda({.device = number, .cache = kept, .calibrations = kept_calibration}), kept);
}
Device Device::planned_h200() { return Device(cuda::make_planner()); }
std::vector<std::string> missing_gpus() { return cuda::find_devices().missing; }
#else
Device Device::planned_h200() { throw Error(missing_gpus().front()); }
Device Device::cuda(int, bool) { throw Error(missing_gpus().front()); }
std::vector<std::string> missing_gpus() {
  return {"cuda: Twinloom was built where CUDA's headers were not found"};
}
#endif

Device Device::reference() { return Device(reference::make_reference()); }

Device Device::named(std::string_view name, const CpuOptions& options) {
  constexpr std::array<std::string_view, 4> names = {"cpu", "reference", "h200", "cuda"};
  if (name == names[0]) return cpu(options);
  if (name == names[1]) return reference();
  if (name == names[2]) return planned_h200();
  if (const auto number = gpu_number(name)) return cuda(*number, options.cache);
  fail_unknown_device(name, names, "cpu, reference, cuda:N and h200");
}

std::vector<Device> devices() {
  std::vector<Device> found;
#ifdef TWINLOOM_HAS_CUDA
  const auto kept = usual_cache(true);
  for (auto& backend : cuda::find_devices(kept, kept_calibration).usable)
    found.push_back(Device::of(std::move(backend), kept));
  sort_by_bandwidth(found);
#endif
  found.push_back(Device::cpu());
  found.push_back(Device::reference());
  return found;
}

}  // namespace twinloom
