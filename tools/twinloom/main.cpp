// The `twinloom` program. See commands.h.
#include <unistd.h>

#include <cstdlib>

#include "tools/twinloom/commands.h"

namespace {

// A thread of OpenMP that waits for others spins some milliseconds before it sleeps, where it may hold the
// core that they need: MobileNetV3 took 2.1 s a run on two cores beside one other busy process, 0.03 so;
// alone 1.9 ms either way. How long it spins libgomp reads when a process begins, so this one begins once
// more, before anything else of its own is initialised. Where it cannot, it spins for long.
[[gnu::constructor(101)]] void spin_shortly(int, char** words, char**) {
  constexpr const char *SPINS = "GOMP_SPINCOUNT", *SHORT = "2000";
  for (const char* variable : {"OMP_WAIT_POLICY", SPINS})
    if (std::getenv(variable) != nullptr) return;
  if (setenv(SPINS, SHORT, 1) == 0) execv("/proc/self/exe", words);
}

}  // namespace

int main(int count, char** words) {
  return twinloom::tool::run_program(std::vector<std::string>(words + 1, words + count));
}
