// See plain_loops.h.
#include "perf/plain_loops.h"

namespace twinloom::perf {

namespace {

bool has_avx512() {
  static const bool has = __builtin_cpu_supports("x86-64-v4") != 0;
  return has;
}

}  // namespace

#define TWINLOOM_ROW(name)                                                    \
  void plain_##name(const Arrays& arrays) {                                   \
    has_avx512() ? avx512::plain_##name(arrays) : avx2::plain_##name(arrays); \
  }
TWINLOOM_PLAIN_LOOPS(TWINLOOM_ROW)
#undef TWINLOOM_ROW

}  // namespace twinloom::perf
