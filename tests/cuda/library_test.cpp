// A library that is opened at run time, or a message that names every place that was looked at.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/cuda/library.h"
#include "tests/support/thrown.h"

namespace twinloom::cuda {
namespace {

// A variable of the environment for the length of a scope.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

std::string failure(const std::vector<std::string>& names, const std::vector<std::string>& directories) {
  return tests::words_of<Error>([&] { const Library library("the test's library", {names, directories}); });
}

TEST(Library, OpensByNameAndFindsFunctions) {
  const Library library("mathematics", {{"libm.so.6"}});
  EXPECT_EQ(library.function<double(double)>("cos")(0.0), 1.0);
  EXPECT_TRUE(library.path().ends_with("libm.so.6") && library.path().starts_with("/")) << library.path();
  EXPECT_EQ(library.find("no_such_function"), nullptr);
  try {
    library.function<void()>("no_such_function");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              cat("mathematics: ", library.path(), " has no function 'no_such_function'"));
  }
}

TEST(Library, AMissingOneNamesEveryPlace) {
  EXPECT_EQ(failure({"libabsent.so.2", "libabsent.so"}, {"/first", "/second"}),
            "the test's library was not found; looked for:\n"
            "  libabsent.so.2 (the loader's own search)\n"
            "  libabsent.so (the loader's own search)\n"
            "  /first/libabsent.so.2\n"
            "  /first/libabsent.so\n"
            "  /second/libabsent.so.2\n"
            "  /second/libabsent.so");
}

TEST(Library, ARefusedOneIsPassedOverAndSaysWhy) {
  const auto refusal = [](const SharedLibrary& library) { return library.without({"cos", "absent", "missing"}); };
  const std::string path = Library("mathematics", {{"libm.so.6"}, {}}).path();
  try {
    const Library library("mathematics", {{"libm.so.6", path}, {}}, refusal);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), cat("mathematics was not found; looked for:\n"
                                             "  libm.so.6 (",
                                             path, " has no function 'absent', 'missing')\n  ", path,
                                             " (has no function 'absent', 'missing')"));
  }
  const auto not_mathematics = [](const SharedLibrary& library) {
    return library.find("cos") == nullptr ? "" : "has too many functions";
  };
  EXPECT_TRUE(
      Library("any", {{"libm.so.6", "libdl.so.2"}, {}}, not_mathematics).path().ends_with("libdl.so.2"));
}

TEST(Library, AFileThatDoesNotOpenSaysWhy) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "twinloom_library_test";
  std::filesystem::create_directories(directory);
  std::ofstream(directory / "libbroken.so") << "no library";
  EXPECT_EQ(failure({"libbroken.so"}, {directory.string()}),
            cat("the test's library was not found; looked for:\n"
                "  libbroken.so (the loader's own search)\n"
                "  ",
                (directory / "libbroken.so").string(), " (file too short)"));
  std::filesystem::remove_all(directory);
}

TEST(Library, WheelsInTheUsersCacheAreFound) {
  const auto home = std::filesystem::path(::testing::TempDir()) / "twinloom_wheels";
  const auto wheel = home / ".cache/twinloom-cuda-13/nvidia/cu13/lib";
  std::filesystem::create_directories(wheel);
  const auto finds_it = [&] {
    const std::vector<std::string> directories = library_directories();
    return std::find(directories.begin(), directories.end(), wheel.string()) != directories.end();
  };
  EXPECT_FALSE(finds_it());
  {
    const Setting cache("XDG_CACHE_HOME", (home / ".cache").string());
    EXPECT_TRUE(finds_it());
  }
  const Setting none("XDG_CACHE_HOME", ""), own("HOME", home.string());
  EXPECT_TRUE(finds_it());
  std::filesystem::remove_all(home);
}

TEST(Library, DirectoriesOfTheEnvironmentComeFirst) {
  const auto root = std::filesystem::path(::testing::TempDir()) / "twinloom_environment";
  const auto wheel = root / "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib";
  std::filesystem::create_directories(wheel);
  const Setting own("TWINLOOM_CUDA_PATH", "/own/first:/own/second"), path("CUDA_PATH", "/toolkit"),
      home("CUDA_HOME", ""), environment("VIRTUAL_ENV", root.string());
  const std::vector<std::string> directories = library_directories();
  ASSERT_GE(directories.size(), 4u);
  EXPECT_EQ(directories[0], "/own/first");
  EXPECT_EQ(directories[1], "/own/second");
  EXPECT_EQ(directories[2], "/toolkit/lib64");
  EXPECT_NE(std::find(directories.begin(), directories.end(), wheel.string()), directories.end());
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace twinloom::cuda
