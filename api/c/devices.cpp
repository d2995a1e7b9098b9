// Devices of the C API. See handles.h.
#include "api/c/handles.h"

using twinloom::c::checked;
using twinloom::c::copied;
using twinloom::c::guarded;

twinloom_error* twinloom_device_open(const char* name, const twinloom_device_options* options,
                                     twinloom_device** device) {
  return guarded([&] {
    checked(device, "device");
    const twinloom_device_options known = twinloom::c::known(options, "twinloom_device_options");
    twinloom::CpuOptions asked;
    asked.cache = known.no_cache == 0;
    if (known.isa != nullptr) asked.isa = known.isa;
    *device = new twinloom_device{twinloom::Device::named(&checked(name, "name"), asked)};
  });
}

void twinloom_device_free(twinloom_device* device) { delete device; }

twinloom_error* twinloom_device_description(const twinloom_device* device, char** text) {
  return guarded([&] {
    checked(text, "text");
    *text = copied(checked(device, "device").device.backend().describe());
  });
}

twinloom_error* twinloom_device_warning(const twinloom_device* device, char** text) {
  return guarded([&] {
    checked(text, "text");
    *text = copied(checked(device, "device").device.backend().warning());
  });
}

twinloom_error* twinloom_device_names(char** text) {
  return guarded([&] {
    checked(text, "text");
    std::string names;
    for (const twinloom::Device& device : twinloom::devices()) names += device.backend().name() + '\n';
    *text = copied(names);
  });
}
