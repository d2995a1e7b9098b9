// What a module calls, and how many elements of each list it takes.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "frontends/fx/syntax.h"

namespace twinloom::fx {

struct CallsOf {
  struct Called {
    std::string target;
    int line;
  };
  std::vector<Called> called;
  std::map<std::string, std::size_t> taken;

  explicit CallsOf(const Module& module);

 private:
  void walk(const std::vector<Child>& children, int line);
  void walk(const Expression& expression, int line);
  void take(const Expression& base, const Expression& at);
};

// Error with every operator that nobody knows, its line and the nearest known ones.
void check_operators(const CallsOf& calls);

}  // namespace twinloom::fx
