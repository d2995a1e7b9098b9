/* What the programs in C share. */
#pragma once

#include <stdio.h>
#include <string.h>
#include <twinloom/twinloom.h>

/* Whether it is an error, which is printed and freed. */
static int failed(twinloom_error* error) {
  if (error == NULL) return 0;
  fprintf(stderr, "code %d: %s\n", (int)twinloom_error_code(error), twinloom_error_message(error));
  twinloom_error_free(error);
  return 1;
}

/* Of f32, row-major. */
static DLTensor tensor(float* data, int dimensions, int64_t* shape) {
  DLTensor result;
  memset(&result, 0, sizeof result);
  result.data = data;
  result.device.device_type = kDLCPU;
  result.ndim = dimensions;
  result.dtype.code = kDLFloat;
  result.dtype.bits = 32;
  result.dtype.lanes = 1;
  result.shape = shape;
  return result;
}
