// A folder of its own for what is measured, which is removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "core/base/error.h"

namespace twinloom::perf {

class Folder {
 public:
  Folder() {
    path_ = (std::filesystem::temp_directory_path() / "twinloom_perf_XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw Error(cat("no folder ", path_));
  }
  ~Folder() {
    std::error_code ignored;  // what stays behind changes no number
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace twinloom::perf
