// What the C API's handles hold, and the border that no exception crosses.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "api/c/ports.h"
#include "api/include/twinloom/twinloom.h"
#include "api/twinloom.h"
#include "core/base/error.h"
#include "core/runtime/bound_run.h"

struct twinloom_error {
  twinloom_code code;
  std::string message;
  twinloom::Location location;
};

struct twinloom_graph {
  explicit twinloom_graph(twinloom::graph::Graph given);
  twinloom::graph::Graph graph;
  std::vector<twinloom::c::Port> parameters, results;
};

struct twinloom_device {
  twinloom::Device device;
};

struct twinloom_executable {
  twinloom::Executable executable;
  // It was made with:
  twinloom::Device device;
  twinloom::CompileOptions options;
};

struct twinloom_pending {
  twinloom::Pending pending;
};

struct twinloom_bound_run {
  std::unique_ptr<const twinloom::runtime::BoundRun> run;
};

namespace twinloom::c {

// The error of what is being thrown.
twinloom_error* caught() noexcept;

// Runs the work; null where it did not throw.
template <class Work>
twinloom_error* guarded(const Work& work) noexcept {
  try {
    work();
    return nullptr;
  } catch (...) {
    return caught();
  }
}

// What the pointer points to. Error naming it where it is null.
template <class T>
T& checked(T* pointer, std::string_view what) {
  if (pointer == nullptr) throw Error(cat(what, " is NULL"));
  return *pointer;
}

// The caller's struct of options as this version of the library knows it; what it has not is 0. Error where
// it does not say its size, and where a later version's member is set.
template <class Options>
Options known(const Options* given, std::string_view what) {
  Options result{};
  result.size = sizeof(Options);
  if (given == nullptr) return result;
  if (given->size < sizeof(given->size) || given->size > 1024)
    throw Error(
        cat(what, ": its size is ", given->size, "; expected sizeof, which is ", sizeof(Options), " here"));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof(Options); i < given->size; ++i)
    if (bytes[i] != 0)
      throw Error(cat(what, ": byte ", i, " is set, of a later version than this library's"));
  std::memcpy(&result, given, std::min(given->size, sizeof(Options)));
  result.size = sizeof(Options);
  return result;
}

// A copy that twinloom_text_free frees.
char* copied(std::string_view text);

}  // namespace twinloom::c
