// A child that fork() makes of a process which has used a GPU gets an Error for each use, and gives nothing
// back.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "backends/cuda/gpu.h"
#include "backends/cuda/load.h"
#include "core/runtime/errors.h"

namespace twinloom::cuda {
namespace {

template <class Use>
void say(const Use& use) {
  try {
    use();
    std::fputs("no Error\n", stderr);
  } catch (const runtime::DeviceLost& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
}

[[noreturn]] void use_in_child(const Gpu& gpu) {
  say([] { Gpu::count(); });
  say([] { gpu_of(0); });
  say([&] { gpu.wait(); });
  say([&] { gpu.allocate(64, nullptr); });
  gpu.release([](const Driver&) { std::fputs("given back\n", stderr); });
  if (gpu.is_lost()) std::fputs("lost\n", stderr);
  ::_exit(0);
}

// In a program of its own, for the driver stays open. Its stand-in is taken because it has the name of the
// driver.
void fork_after_use() {
  const auto folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "stand_ins";
  if (::dlopen((folder / "libone_gpu.so").c_str(), RTLD_NOW) == nullptr) std::exit(1);
  const Gpu& gpu = gpu_of(0);
  const pid_t child = ::fork();
  if (child == 0) use_in_child(gpu);
  int status = -1;
  ::waitpid(child, &status, 0);
  gpu.wait();
  std::exit(status == 0 && !gpu.is_lost() ? 0 : 2);
}

TEST(Forked, EachUseOfAGpuInAChildIsAnErrorAndTheParentGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      fork_after_use(), testing::ExitedWithCode(0),
      "^(CUDA was started in process [0-9]+ and this is process [0-9]+, a child made by fork\\(\\), where it "
      "does not work; call fork\\(\\) before a GPU is asked for, or start a new program\n){4}lost\n$");
}

}  // namespace
}  // namespace twinloom::cuda
