// Runs work that calls Clang and LLVM so that their failures stay failures of one compilation: on a
// thread with a large stack (their recursion follows the nesting of the text), with LLVM's fatal errors
// and crashes turned into a Bug.
// A crash leaks what was alive, and signal handlers are installed while any guarded work runs: a net
// for accidents, no wall against hostile text.
#pragma once

#include <functional>
#include <string>

namespace twinloom::jit {

// Waits for `work` and passes on what it throws. `what` begins the words of a Bug.
void run_guarded(const std::string& what, const std::function<void()>& work);

}  // namespace twinloom::jit
