// What a Device does whatever its back end. See devices.h.
#include "api/devices.h"
#include "core/base/error.h"
#include "core/runtime/memory_pool.h"

namespace twinloom {

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

}  // namespace twinloom
