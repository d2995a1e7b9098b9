// The process that CUDA was started in. A child that fork() makes of it afterwards has a copy of all that
// this library keeps, and no CUDA: what the driver would do there is not defined.
#pragma once

#include <sys/types.h>

namespace twinloom::cuda {

// Of the process that makes it.
class Owner {
 public:
  Owner();
  bool is_this_process() const;
  // DeviceLost in a child.
  void expect_this_process() const;

 private:
  pid_t process_;
};

}  // namespace twinloom::cuda
