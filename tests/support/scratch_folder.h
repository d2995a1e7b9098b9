// A folder of its own for a test's files, which is removed with all that is in it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace twinloom::tests {

class ScratchFolder {
 public:
  ScratchFolder() {
    path_ = (std::filesystem::temp_directory_path() / "twinloom_test_XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder for the test's files");
  }
  ~ScratchFolder() {
    std::error_code ignored;  // a folder that stays behind fails no test
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace twinloom::tests
