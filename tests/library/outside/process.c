/* What a process may do around the library: open it, use it, close it and open it again; fork after use and use it in the child;
 * keep its signal handlers. Prints "held" where all of it works.
 *   process LIBRARY GRAPH */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <twinloom/twinloom.h>
#include <unistd.h>

enum { ROWS = 1 << 18, COLUMNS = 4, SIGNALS = 32 };

static float rows[ROWS * COLUMNS], bias[COLUMNS];

#define FUNCTION(library, name) __typeof__(&name) call_##name = (__typeof__(&name))dlsym(library, #name)

/* The first number of a softmax of rows, large enough for several threads; -1 where something fails. */
static float used(void* library, const char* path) {
  FUNCTION(library, twinloom_graph_load);
  FUNCTION(library, twinloom_device_open);
  FUNCTION(library, twinloom_compile);
  FUNCTION(library, twinloom_run);
  FUNCTION(library, twinloom_value_release);
  FUNCTION(library, twinloom_executable_free);
  FUNCTION(library, twinloom_device_free);
  FUNCTION(library, twinloom_graph_free);
  FUNCTION(library, twinloom_error_message);
  twinloom_graph* graph = NULL;
  twinloom_device* device = NULL;
  twinloom_executable* executable = NULL;
  int64_t shape[2] = {ROWS, COLUMNS};
  DLTensor x = {rows, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, NULL, 0};
  DLTensor b = {bias, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape + 1, NULL, 0};
  twinloom_value arguments[2] = {{TWINLOOM_TENSOR, {.tensor = &x}}, {TWINLOOM_TENSOR, {.tensor = &b}}};
  twinloom_value results[2] = {{TWINLOOM_NONE, {.size = 0}}, {TWINLOOM_NONE, {.size = 0}}};
  twinloom_device_options options = {.size = sizeof options, .no_cache = 1};
  twinloom_run_options run = {.size = sizeof run, .threads = 2};
  twinloom_error* error = call_twinloom_graph_load(path, NULL, &graph);
  float first = -1;
  if (!error) error = call_twinloom_device_open("cpu", &options, &device);
  if (!error) error = call_twinloom_compile(graph, device, NULL, &executable);
  if (!error) error = call_twinloom_run(executable, arguments, 2, &run, results, 2);
  if (error) fprintf(stderr, "%s\n", call_twinloom_error_message(error));
  if (!error) first = ((const float*)results[0].as.managed->dl_tensor.data)[0];
  call_twinloom_value_release(&results[0]);
  call_twinloom_value_release(&results[1]);
  call_twinloom_executable_free(executable);
  call_twinloom_device_free(device);
  call_twinloom_graph_free(graph);
  return first;
}

static void handler(int number) { (void)number; }

static int is_ours(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) != 0 || action.sa_handler == handler;
}

int main(int count, char** words) {
  int i, status = -1;
  pid_t child;
  float first = -1;
  struct sigaction ours;
  if (count != 3) return 2;
  memset(&ours, 0, sizeof ours);
  ours.sa_handler = handler;
  for (i = 1; i < SIGNALS; ++i)
    if (i != SIGKILL && i != SIGSTOP && i != SIGCHLD) sigaction(i, &ours, NULL);
  for (i = 0; i < COLUMNS; ++i) bias[i] = (float)i;
  for (i = 0; i < 5; ++i) {
    void* library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 1;
    first = used(library, words[2]);
    if (first < 0 || dlclose(library) != 0) return fprintf(stderr, "round %d fails\n", i), 1;
  }
  child = fork();
  if (child == 0) {
    void* library;
    alarm(60);
    signal(SIGALRM, SIG_DFL);
    library = dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
    _exit(library != NULL && used(library, words[2]) == first ? 0 : 1);
  }
  if (waitpid(child, &status, 0) != child || status != 0)
    return fprintf(stderr, "the child ends with status %d\n", status), 1;
  for (i = 1; i < SIGNALS; ++i)
    if (i != SIGKILL && i != SIGSTOP && i != SIGCHLD && !is_ours(i))
      return fprintf(stderr, "signal %d has another handler\n", i), 1;
  puts("held");
  return 0;
}
