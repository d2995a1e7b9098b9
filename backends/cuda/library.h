// A shared library that is opened at run time, from a list of places that is kept so that a message can name
// all of them:
//   1  the names as they are, by the loader's own rules
//   2  TWINLOOM_CUDA_PATH, directories between colons
//   3  CUDA_PATH and CUDA_HOME: lib64, lib, targets/x86_64-linux/lib
//   4  /usr/local/cuda*/lib64 and targets/x86_64-linux/lib, the newest version first
//   5  the folders of PyTorch's wheels, site-packages/nvidia/*/lib below VIRTUAL_ENV, CONDA_PREFIX and the
//      usual prefixes of Python
// It stays open until the process ends: CUDA's libraries keep threads, and work that threads do as they end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/error.h"

namespace twinloom::cuda {

// The directories of 2 to 5 that exist, in their order, and those of environment variables even if they do
// not: a message should name them.
std::vector<std::string> library_directories();

struct LibraryPlaces {
  std::vector<std::string> names;  // of the file; those of one place are tried in this order
  std::vector<std::string> directories = library_directories();  // after the loader's own rules
};

class Library {
 public:
  // Why a library that opens is of no use ("is version 11.2"); empty where it is.
  using Refusal = std::function<std::string(const Library&)>;

  // Takes the first that opens and is not refused. None is an Error that begins with `what` and says where it
  // was looked for and what was wrong there.
  Library(std::string what, const LibraryPlaces& places, const Refusal& refusal = {});

  // A function of the library; a missing one is an Error that names it and the library.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }
  // Null where the library has none.
  void* find(const char* name) const;
  // "has no function 'one', 'two'", of these; empty where it has them all.
  std::string without(const std::vector<const char*>& names) const;

  const std::string& path() const { return path_; }  // where it was found
  const std::vector<std::string>& searched() const {
    return searched_;
  }  // every place tried, with its failure

 private:
  void* address(const char* name) const;
  bool take(const std::string& path, const Refusal& refusal);
  bool open(const std::string& path);

  std::string what_;
  std::string path_;
  std::vector<std::string> searched_;
  void* handle_ = nullptr;
};

}  // namespace twinloom::cuda
