// Where the shared libraries of CUDA are looked for (core/base/shared_library.h):
//   1  the names as they are, by the loader's own rules
//   2  TWINLOOM_CUDA_PATH, directories between colons
//   3  CUDA_PATH and CUDA_HOME: lib64, lib, targets/x86_64-linux/lib
//   4  /usr/local/cuda*/lib64 and targets/x86_64-linux/lib, the newest version first
//   5  the folders of PyTorch's wheels, site-packages/nvidia/*/lib below VIRTUAL_ENV, CONDA_PREFIX and the
//      usual prefixes of Python
#pragma once

#include <string>
#include <vector>

#include "core/base/shared_library.h"

namespace twinloom::cuda {

// The directories of 2 to 5 that exist, in their order, and those of environment variables even if they do
// not: a message should name them.
std::vector<std::string> library_directories();

struct LibraryPlaces {
  std::vector<std::string> names;  // of the file; those of one place are tried in this order
  std::vector<std::string> directories = library_directories();  // after the loader's own rules
};

class Library : public SharedLibrary {
 public:
  Library(std::string what, const LibraryPlaces& places, const Refusal& refusal = {});
};

}  // namespace twinloom::cuda
