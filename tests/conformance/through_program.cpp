// See through_program.h. The program runs in this process, so that it finds the device.
#include "tests/conformance/through_program.h"

#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <sstream>

#include "core/base/text.h"
#include "tests/support/heard.h"
#include "tests/support/sealed/sealed_device.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tests {

namespace {

Device find_device(std::string_view name, const CpuOptions& options) {
  if (name != SEALED) return Device::named(name, options);
  static const auto sealed = sealed_device(Device::reference().share());
  return Device::of(sealed);
}

}  // namespace

std::optional<std::string> difference_in_program(const Case& given, std::string_view device) {
  const std::filesystem::path stem = std::filesystem::temp_directory_path() / cat("twinloom_case_", getpid());
  std::istringstream line(cat(write_case_at(given, stem), " --device ", device, " --no-cache"));
  const std::vector<std::string> words(std::istream_iterator<std::string>(line), {});
  const Heard heard;
  const int code = tool::run_program(words, find_device);
  for (const char* ending : {".graph", ".npz"}) std::filesystem::remove(stem.string() + ending);
  return code == 0 ? std::nullopt : std::optional(cat("exit code ", code, ": ", heard.words()));
}

}  // namespace twinloom::tests
