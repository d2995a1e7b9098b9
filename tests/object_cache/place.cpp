// See place.h.
#include "tests/object_cache/place.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "core/base/text.h"

namespace twinloom::tests {

object_cache::Options TestFolder::options() const {
  object_cache::Options options;
  options.place = {path_.string(), "cache"};
  return options;
}

std::vector<std::string> TestFolder::names() const {
  std::vector<std::string> names;
  if (!std::filesystem::exists(cache_path())) return names;
  for (const auto& entry : std::filesystem::directory_iterator(cache_path()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::filesystem::path TestFolder::only_file() const {
  const std::vector<std::string> all = names();
  if (all.size() != 1) throw std::runtime_error(cat(all.size(), " files instead of one"));
  return cache_path() / all[0];
}

std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream << bytes;
}

object_cache::Key key_of(int number) {
  return {{object_cache::kernel_field, cat("k", number)},
          {object_cache::target_field, "cpu avx2"},
          {"flags", "-O2 -x c++"},
          {"source", cat("void kernel() {\n  return ", number, ";\n}\n")}};
}

std::string payload_of(int number) {
  std::string payload = cat("\x7f", "ELF of ", number, '\0');
  for (int at = 0; at < 300; ++at) payload += static_cast<char>(number * 31 + at);
  return payload;
}

int start_process(const std::function<int()>& body) {
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process > 0) return process;
  int code = 255;
  try {
    code = body();
  } catch (...) {
    code = 255;
  }
  _exit(code);
}

int end_of(int process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) throw std::runtime_error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

}  // namespace twinloom::tests
