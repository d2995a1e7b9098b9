// Files and parts of them that are read through memory.
#include "core/base/mapped_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/error.h"
#include "core/base/files.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/thrown.h"

namespace twinloom {
namespace {

constexpr std::size_t BYTES = 5 * 65536 + 7;

class MappedFiles : public testing::Test {
 protected:
  MappedFiles() : content(BYTES, '\0'), file(scratch.file("file")) {
    for (std::size_t at = 0; at < BYTES; ++at) content[at] = static_cast<char>(at * 7 + at / 251);
    write_whole(file, content);
  }
  tests::ScratchFolder scratch;
  std::string content;
  std::filesystem::path file;
};

TEST_F(MappedFiles, HaveTheBytesOfTheFile) {
  EXPECT_EQ(MappedFile(file).bytes(), content);
  for (const std::size_t offset : {0UL, 1UL, 4096UL, 70001UL, BYTES - 3})
    EXPECT_EQ(MappedFile(file, offset, 3).bytes(), content.substr(offset, 3));
  EXPECT_EQ(MappedFile(file, BYTES, 0).bytes(), "");
}

TEST_F(MappedFiles, APartThatIsNotThereIsAnError) {
  EXPECT_EQ(tests::words_of<Error>([&] { MappedFile(file, BYTES - 3, 4); }),
            cat("'", file.string(), "' has ", BYTES, " bytes, 4 are needed from ", BYTES - 3, " on"));
  EXPECT_THROW(MappedFile(file, SIZE_MAX - 1, 4), Error);
  EXPECT_THROW(MappedFile(scratch.file("none")), Error);
  EXPECT_THROW(MappedFile(scratch.path()), Error);
}

TEST_F(MappedFiles, WhatIsUnloadedIsReadAgain) {
  const MappedFile part(file, 70001, 200000);
  const std::string_view bytes = part.bytes();
  for (const std::size_t from : {0UL, 1UL, 100000UL}) {
    unload(std::as_bytes(std::span(bytes.substr(from))));
    EXPECT_EQ(bytes, content.substr(70001, 200000));
  }
}

// Pages of other memory would be lost.
TEST_F(MappedFiles, OtherMemoryStaysAsItIs) {
  std::vector<std::byte> bytes(BYTES, std::byte{42});
  const MappedFile before(file), behind(file);
  unload(bytes);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{42}; }));
}

}  // namespace
}  // namespace twinloom
