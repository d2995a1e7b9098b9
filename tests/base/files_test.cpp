// Files that others read at the moment that they are written.
#include "core/base/files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/thrown.h"

namespace twinloom {
namespace {

class Files : public testing::Test {
 protected:
  tests::ScratchFolder scratch;
  std::filesystem::path folder = scratch.path();
};

TEST_F(Files, AreWrittenWhole) {
  const auto file = folder / "a.txt";
  EXPECT_EQ(read_if_there(file, 100), std::nullopt);
  write_whole(file, "one");
  write_whole(file, std::string_view("t\0wo", 4));
  EXPECT_EQ(read_if_there(file, 100), std::string("t\0wo", 4));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(Files, WhatCannotBeSaysSo) {
  const std::string nowhere = (folder / "missing" / "a.txt").string();
  EXPECT_EQ(tests::words_of<Error>([&] { write_whole(nowhere, "one"); }),
            cat("cannot write '", nowhere, "': No such file or directory"));
  std::filesystem::create_directories(folder / "full" / "inner");
  EXPECT_NE(tests::words_of<Error>([&] { write_whole(folder / "full", "one"); }).find("cannot write '"),
            std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  write_whole(folder / "long", "more than that");
  EXPECT_EQ(tests::words_of<Error>([&] { read_if_there(folder / "long", 3); }),
            cat("'", (folder / "long").string(), "' holds more than 3 bytes"));
}

}  // namespace
}  // namespace twinloom
