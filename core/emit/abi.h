// What a kernel and whoever runs it agree on: plain structs, read by this process and by the text that
// is compiled at run time (which has no standard headers, so there are none here).
//   extern "C" void kernel(const twinloom::emit::Arguments* arguments, i64 begin, i64 end)
// executes the tasks begin <= task < end. A task is one turn of the outermost block loops, numbered
// row-major; how many there are is task_count() of emit.h.
#pragma once

namespace twinloom::emit {

#ifdef __CUDACC__
using Integer = long long;
#else
using Integer = __INT64_TYPE__;
#endif

// The first failed Index. A kernel that fails claims the record by an exchange of `claimed`, so one
// failure of several is kept.
struct FailureRecord {
  Integer claimed = 0;
  Integer node = -1;
  Integer value = 0;  // as it was loaded
  Integer bound = 0;
  Integer offset = -1;  // where it was loaded from; negative: it was computed, or copied on the way
};

struct Arguments {
  void* const* buffers;  // element 0 of each argument, in the order of Program::buffers
  const Integer* sizes;  // as Program::sizes
  FailureRecord* failure;
};

using KernelFunction = void (*)(const Arguments* arguments, Integer begin, Integer end);

}  // namespace twinloom::emit
