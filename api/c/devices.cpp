// Devices of the C API. See handles.h.
#include "api/c/dlpack.h"
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

twinloom_error* twinloom_device_upload(const twinloom_device* device, const DLTensor* tensor,
                                       DLManagedTensor** uploaded) {
  return guarded([&] {
    checked(uploaded, "uploaded");
    const twinloom::Device& to = checked(device, "device").device;
    *uploaded = twinloom::c::managed(to.upload(twinloom::c::tensor_of(tensor, "the tensor")));
  });
}

twinloom_error* twinloom_device_download(const twinloom_device* device, const DLTensor* tensor,
                                         DLManagedTensor** downloaded) {
  return guarded([&] {
    checked(downloaded, "downloaded");
    const twinloom::Device& from = checked(device, "device").device;
    *downloaded = twinloom::c::managed(from.download(twinloom::c::tensor_of(tensor, "the tensor")));
  });
}

twinloom_error* twinloom_device_release_memory(const twinloom_device* device) {
  return guarded([&] { checked(device, "device").device.release_memory(); });
}

twinloom_error* twinloom_device_names(char** text) {
  return guarded([&] {
    checked(text, "text");
    std::string names;
    for (const twinloom::Device& device : twinloom::devices()) names += device.backend().name() + '\n';
    *text = copied(names);
  });
}
