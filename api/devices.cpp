// The list of back ends that were built. See devices.h.
#include "api/devices.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/calibrations.h"
#include "api/twinloom.h"
#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/object_cache/object_cache.h"
#include "core/runtime/memory_pool.h"
#ifdef TWINLOOM_HAS_CUDA
#include "backends/cuda/cuda.h"
#endif

namespace twinloom {

namespace {

std::shared_ptr<const object_cache::ObjectCache> usual_cache(bool wanted) {
  if (!wanted) return nullptr;
  return std::make_shared<const object_cache::ObjectCache>(object_cache::options_from_environment());
}

constexpr std::string_view CUDA = "cuda";

// The N of "cuda:N"; 0 for "cuda"; nothing for another name.
std::optional<int> gpu_number(std::string_view name) {
  if (!name.starts_with(CUDA)) return std::nullopt;
  name.remove_prefix(CUDA.size());
  if (name.empty()) return 0;
  if (!name.starts_with(':')) return std::nullopt;
  int number = 0;
  const auto [end, problem] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  const bool whole = problem == std::errc() && end == name.data() + name.size();
  return whole && number >= 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Device Device::cpu(const CpuOptions& options) {
  cpu::CpuOptions settings;
  settings.isa = options.isa;
  settings.cache = usual_cache(options.cache);
  settings.calibrations = kept_calibration;
  return Device(cpu::make_cpu(settings));
}

#ifdef TWINLOOM_HAS_CUDA
Device Device::cuda(int number, bool cache) {
  return Device(
      cuda::make_cuda({.device = number, .cache = usual_cache(cache), .calibrations = kept_calibration}));
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

runtime::Tensor Device::upload(const runtime::Tensor& tensor) const {
  const runtime::Space* space = backend_->space();
  return space == nullptr || tensor.device == space->device() ? tensor : runtime::uploaded(tensor, *space);
}
runtime::Tensor Device::download(const runtime::Tensor& tensor) const {
  if (tensor.device == runtime::HOST) return tensor;
  const runtime::Space* space = backend_->space();
  if (space == nullptr || space->device() != tensor.device)
    throw Error(cat("a tensor lies on GPU ", tensor.device, "; it cannot be downloaded by the device ",
                    backend_->name()));
  return runtime::downloaded(tensor, *space);
}

void Device::release_memory() const {
  if (backend_->space() != nullptr) backend_->space()->memory()->release();
}

Device Device::reference() { return Device(reference::make_reference()); }

Device Device::named(std::string_view name, const CpuOptions& options) {
  constexpr std::array<std::string_view, 4> names = {"cpu", "reference", "h200", CUDA};
  if (name == names[0]) return cpu(options);
  if (name == names[1]) return reference();
  if (name == names[2]) return planned_h200();
  if (const auto number = gpu_number(name)) return cuda(*number, options.cache);
  const std::string near = nearest_name(name, names);
  throw Error(cat("there is no device '", escaped(name), "'; devices are cpu, reference, cuda:N and h200",
                  near.empty() ? "" : cat("; did you mean '", near, "'?")));
}

std::vector<Device> devices() {
  std::vector<Device> found;
#ifdef TWINLOOM_HAS_CUDA
  for (auto& backend : cuda::find_devices(usual_cache(true), kept_calibration).usable)
    found.push_back(Device::of(std::move(backend)));
  const auto bandwidth = [](const Device& device) {
    const machine::Machine& machine = device.backend().machine();
    return machine.memory.back().bytes_per_second * machine.blocks_at_once;
  };
  std::ranges::stable_sort(found, std::ranges::greater(), bandwidth);
#endif
  found.push_back(Device::cpu());
  found.push_back(Device::reference());
  return found;
}

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options) {
  return pipeline::compile(graph, device.share(), options);
}

}  // namespace twinloom
