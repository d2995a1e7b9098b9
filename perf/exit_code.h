// How programs that measure end.
#pragma once

#include <exception>
#include <iostream>

namespace twinloom::perf {

// What `work` gives; 2 with the words of what it throws.
template <class Work>
int exit_code_of(Work&& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 2;
  }
}

}  // namespace twinloom::perf
