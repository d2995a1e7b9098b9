/* Runs a package over libtwinloom_runtime alone: no LLVM, no NVRTC and no compiler is in the process. Prints the first row
 * of the result, and on the error stream how long loading and the first run took. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <twinloom/twinloom.h>

#include "common.h"

enum { ROWS = 3, COLUMNS = 4 };

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Whether the process has a file of that name in its memory. */
static int has_mapped(const char* name) {
  char line[4096];
  int found = 0;
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 1;
  while (fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, name) != NULL;
  fclose(maps);
  return found;
}

int main(int count, char** words) {
  float rows[ROWS * COLUMNS], bias[COLUMNS];
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor x = tensor(rows, 2, shape), b = tensor(bias, 1, shape + 1);
  twinloom_value arguments[2] = {{TWINLOOM_TENSOR, {.tensor = &x}}, {TWINLOOM_TENSOR, {.tensor = &b}}};
  twinloom_value results[2] = {{TWINLOOM_NONE, {.size = 0}}, {TWINLOOM_NONE, {.size = 0}}};
  twinloom_device* device = NULL;
  twinloom_executable* executable = NULL;
  twinloom_graph* graph = NULL;
  twinloom_port port;
  const float* row;
  double start, opened, loaded, ran;
  int i;
  port.size = sizeof port;
  if (count != 2) return 2;
  for (i = 0; i < ROWS * COLUMNS; ++i) rows[i] = 1.0f;
  for (i = 0; i < COLUMNS; ++i) bias[i] = (float)(i + 1);
  start = milliseconds();
  if (failed(twinloom_device_open("cpu", NULL, &device))) return 1;
  opened = milliseconds();
  if (failed(twinloom_load_package(words[1], device, NULL, &executable))) return 1;
  loaded = milliseconds();
  if (failed(twinloom_run(executable, arguments, 2, NULL, results, 2))) return 1;
  ran = milliseconds();
  if (failed(twinloom_executable_graph(executable, &graph)) || failed(twinloom_graph_parameter(graph, 0, &port)) ||
      strcmp(port.name, "x") != 0)
    return 1;
  row = (const float*)results[0].as.managed->dl_tensor.data;
  printf("%.4f %.4f %.4f %.4f\n", row[0], row[1], row[2], row[3]);
  fprintf(stderr, "device %.2f ms, load %.2f ms, first run %.2f ms\n", opened - start, loaded - opened, ran - loaded);
  for (i = 0; i < 2; ++i) twinloom_value_release(&results[i]);
  twinloom_graph_free(graph);
  twinloom_executable_free(executable);
  twinloom_device_free(device);
  if (has_mapped("LLVM") || has_mapped("twinloom_jit") || has_mapped("nvrtc") || has_mapped("clang")) {
    fprintf(stderr, "a compiler is in the process\n");
    return 1;
  }
  return 0;
}
