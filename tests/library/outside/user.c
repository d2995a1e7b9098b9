/* A softmax of rows by the C API: twice by new memory, once into the caller's. Prints the first row. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twinloom/twinloom.h>

#include "common.h"

enum { ROWS = 3, COLUMNS = 4 };

/* Whether the error is of that code and its message holds the words. */
static int expected(twinloom_error* error, twinloom_code code, const char* words) {
  const int right = twinloom_error_code(error) == code && strstr(twinloom_error_message(error), words) != NULL;
  if (!right) fprintf(stderr, "expected code %d and '%s', got '%s'\n", (int)code, words, twinloom_error_message(error));
  twinloom_error_free(error);
  return right;
}

static int run(const twinloom_executable* executable) {
  float rows[ROWS * COLUMNS], bias[COLUMNS], written[ROWS * COLUMNS], sums[ROWS * COLUMNS];
  int64_t shape[2] = {ROWS, COLUMNS};
  int64_t count = 0;
  DLTensor x = tensor(rows, 2, shape), b = tensor(bias, 1, shape + 1);
  DLTensor y = tensor(written, 2, shape), z = tensor(sums, 2, shape);
  twinloom_value arguments[2] = {{TWINLOOM_TENSOR, {.tensor = &x}}, {TWINLOOM_TENSOR, {.tensor = &b}}};
  twinloom_value results[2] = {{TWINLOOM_NONE, {.size = 0}}, {TWINLOOM_NONE, {.size = 0}}};
  twinloom_value into[2] = {{TWINLOOM_TENSOR, {.tensor = &y}}, {TWINLOOM_TENSOR, {.tensor = &z}}};
  twinloom_run_options options = {.size = sizeof options};
  int i, equal;
  for (i = 0; i < ROWS * COLUMNS; ++i) rows[i] = 1.0f;
  for (i = 0; i < COLUMNS; ++i) bias[i] = (float)(i + 1);
  options.threads = 1;
  if (failed(twinloom_prepare(executable, arguments, 2))) return 1;
  if (failed(twinloom_peak_bytes(executable, arguments, 2, &count)) || count < (int64_t)sizeof written) return 1;
  if (failed(twinloom_run(executable, arguments, 2, NULL, results, 2))) return 1;
  if (failed(twinloom_run(executable, arguments, 2, &options, into, 2))) return 1;
  equal = results[0].kind == TWINLOOM_MANAGED &&
          memcmp(results[0].as.managed->dl_tensor.data, written, sizeof written) == 0;
  for (i = 0; i < 2; ++i) twinloom_value_release(&results[i]);
  printf("%.4f %.4f %.4f %.4f\n", written[0], written[1], written[2], written[3]);
  if (!equal || results[0].kind != TWINLOOM_NONE) return 1;
  x.ndim = 1;
  if (!expected(twinloom_run(executable, arguments, 2, NULL, results, 2), TWINLOOM_INVALID, "x")) return 1;
  options.size = 0;
  return !expected(twinloom_run(executable, arguments, 2, &options, results, 2), TWINLOOM_INVALID, "its size is 0");
}

int main(int count, char** words) {
  twinloom_graph* graph = NULL;
  twinloom_device* device = NULL;
  twinloom_executable* executable = NULL;
  twinloom_device_options options = {.size = sizeof options};
  twinloom_port port;
  int code = 1;
  options.no_cache = 1;
  port.size = sizeof port;
  if (count != 2) return 2;
  if (!expected(twinloom_graph_load("/nowhere/model.fx", NULL, &graph), TWINLOOM_INVALID, "/nowhere/model.fx")) return 1;
  if (!failed(twinloom_graph_load(words[1], NULL, &graph)) && !failed(twinloom_graph_parameter(graph, 0, &port)) &&
      strcmp(port.name, "x") == 0 && port.shape[0] == -1 && strcmp(port.shape_symbols[0], "s0") == 0 &&
      !failed(twinloom_device_open("cpu", &options, &device)) &&
      !failed(twinloom_compile(graph, device, NULL, &executable))) {
    twinloom_graph_free(graph); /* an executable does not need it */
    twinloom_device_free(device);
    graph = NULL;
    device = NULL;
    code = run(executable);
  }
  twinloom_executable_free(executable);
  twinloom_device_free(device);
  twinloom_graph_free(graph);
  return code;
}
