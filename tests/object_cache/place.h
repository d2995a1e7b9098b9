// A folder for the files of one test, and processes that use it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/object_cache/object_cache.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

class TestFolder {
 public:
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path cache_path() const { return path_ / "cache"; }
  // A cache in cache_path().
  object_cache::Options options() const;

  // The names in cache_path(), sorted.
  std::vector<std::string> names() const;
  // The one file in cache_path().
  std::filesystem::path only_file() const;

 private:
  ScratchFolder folder_;
  std::filesystem::path path_ = std::filesystem::canonical(folder_.path());
};

std::string read_bytes(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, const std::string& bytes);

// A key like those of kernels, and what is kept under it: each `number` has others.
object_cache::Key key_of(int number);
std::string payload_of(int number);

// Runs the body in a process of its own, which ends with what it returns; 255 where it threw.
int start_process(const std::function<int()>& body);  // its id
int end_of(int process);                              // its exit code; 256 + the signal that ended it
inline int in_process(const std::function<int()>& body) { return end_of(start_process(body)); }

}  // namespace twinloom::tests
