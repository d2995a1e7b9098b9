// The `twinloom` program. See commands.h.
#include "tools/twinloom/commands.h"

int main(int count, char** words) {
  return twinloom::tool::run_program(std::vector<std::string>(words + 1, words + count));
}
