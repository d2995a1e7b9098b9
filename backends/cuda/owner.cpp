// See owner.h.
#include "backends/cuda/owner.h"

#include <unistd.h>

#include "core/base/text.h"
#include "core/runtime/errors.h"

namespace twinloom::cuda {

Owner::Owner() : process_(::getpid()) {}

bool Owner::is_this_process() const { return ::getpid() == process_; }

void Owner::expect_this_process() const {
  if (!is_this_process())
    throw runtime::DeviceLost(
        cat("CUDA was started in process ", process_, " and this is process ", ::getpid(),
            ", a child made by fork(), where it does not work; call fork() before a GPU is "
            "asked for, or start a new program"));
}

}  // namespace twinloom::cuda
