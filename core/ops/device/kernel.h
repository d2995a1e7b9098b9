// All of the device header: what generated code includes. One source that Clang, GCC and NVRTC compile for
// vectors and for single elements; the same input gives the same bits in all of them.
#pragma once

#include "approximate.h"
#include "arithmetic.h"
#include "combine.h"
#include "convert.h"
#include "divide.h"
#include "exponential.h"
#include "hyperbolic.h"
#include "powers.h"
#include "random.h"
#include "short.h"
#include "special.h"
#include "trigonometric.h"
#include "vector.h"
#ifdef __CUDACC__
#include "gpu_rows.h"
#endif
