// A device in this process whose memory nobody else can touch: its pages have no access but while a kernel of it
// runs and while something is uploaded, downloaded or copied. Who takes a tensor there for one of this process ends
// with a segmentation fault, as on a machine with a GPU. Its tensors say that they lie on device 0.
#pragma once

#include <memory>

#include "core/runtime/backend.h"

namespace twinloom::tests {

// Builds and runs kernels with `inner`, whose kernels take memory of this process. One run at a time.
std::shared_ptr<const runtime::Backend> sealed_device(std::shared_ptr<const runtime::Backend> inner);

}  // namespace twinloom::tests
