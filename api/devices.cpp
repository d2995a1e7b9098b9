// The list of back ends that were built. See devices.h.
#include "api/devices.h"

#include <array>

#include "api/twinloom/twinloom.h"
#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/object_cache/object_cache.h"

namespace twinloom {

Device Device::cpu(const CpuOptions& options) {
  cpu::CpuOptions settings;
  settings.isa = options.isa;
  if (options.cache)
    settings.cache =
        std::make_shared<const object_cache::ObjectCache>(object_cache::options_from_environment());
  return Device(cpu::make_cpu(settings));
}

Device Device::reference() { return Device(reference::make_reference()); }

Device Device::named(std::string_view name, const CpuOptions& options) {
  constexpr std::array<std::string_view, 2> names = {"cpu", "reference"};
  if (name == names[0]) return cpu(options);
  if (name == names[1]) return reference();
  const std::string near = nearest_name(name, names);
  throw Error(cat("there is no device '", escaped(name), "'; devices are cpu and reference",
                  near.empty() ? "" : cat("; did you mean '", near, "'?")));
}

std::vector<Device> devices() { return {Device::cpu(), Device::reference()}; }

Executable compile(const Graph& graph, const Device& device, const CompileOptions& options) {
  return pipeline::compile(graph, device.share(), options);
}

}  // namespace twinloom
