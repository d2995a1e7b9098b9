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

#include <string>
#include <vector>

#include "core/base/error.h"

namespace twinloom::cuda {

// The directories of 2 to 5 that exist, in their order, and those of environment variables even if they do
// not: a message should name them.
std::vector<std::string> library_directories();

class Library {
 public:
  // Tries each of `names` in each place, the names of one place in their order. None that opens is an Error
  // that begins with `what` and says where it was looked for.
  Library(std::string what, const std::vector<std::string>& names);
  // The same in these directories only, after the loader's own rules.
  Library(std::string what, const std::vector<std::string>& names,
          const std::vector<std::string>& directories);

  // A function of the library; a missing one is an Error that names it and the library.
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(address(name));
  }
  // Null where the library has none.
  void* find(const char* name) const;

  const std::string& path() const { return path_; }  // where it was found
  const std::vector<std::string>& searched() const {
    return searched_;
  }  // every place tried, with its failure

 private:
  void* address(const char* name) const;
  bool open(const std::string& path);

  std::string what_;
  std::string path_;
  std::vector<std::string> searched_;
  void* handle_ = nullptr;
};

}  // namespace twinloom::cuda
