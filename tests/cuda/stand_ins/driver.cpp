// A library with the symbols of the NVIDIA driver and nothing behind them: it only knows its version,
// STAND_IN_VERSION. With STAND_IN_PARTS it has two of the functions.
#include "backends/cuda/driver.h"

#define STAND_IN(name, symbol)                          \
  extern "C" int stand_in_##name(int*) __asm__(symbol); \
  int stand_in_##name(int* version) {                   \
    *version = STAND_IN_VERSION;                        \
    return 0;                                           \
  }

#ifdef STAND_IN_PARTS
STAND_IN(cuInit, "cuInit")
STAND_IN(cuDriverGetVersion, "cuDriverGetVersion")
#else
TWINLOOM_DRIVER_FUNCTIONS(STAND_IN)
#endif
