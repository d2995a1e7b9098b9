// Arrays go to files and come back; files that are not what they say are refused in words.
#include <gtest/gtest.h>
#include <zip.h>

#include <cstring>
#include <filesystem>

#include "core/base/error.h"
#include "frontends/arrays/arrays.h"
#include "tests/frontends/texts.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

using runtime::Tensor;

Tensor counting(ops::DType dtype, std::vector<std::int64_t> sizes) {
  Tensor tensor = runtime::allocate(dtype, std::move(sizes));
  auto* bytes = static_cast<unsigned char*>(tensor.data);
  const std::int64_t count = runtime::element_count(tensor) * ops::size_of(dtype);
  for (std::int64_t b = 0; b < count; ++b)
    bytes[b] = static_cast<unsigned char>(dtype == ops::DType::b8 ? b % 2 : b * 7 % 251);
  return tensor;
}

void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.dtype, b.dtype);
  ASSERT_EQ(a.sizes, b.sizes);
  const auto bytes = static_cast<std::size_t>(runtime::element_count(a) * ops::size_of(a.dtype));
  if (bytes != 0) {
    EXPECT_EQ(std::memcmp(a.data, b.data, bytes), 0);
  }
}

// An .npy with this header and so many bytes of elements.
std::string npy(std::string header, std::size_t bytes) {
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xff);
  text += static_cast<char>(header.size() >> 8);
  return text + header + std::string(bytes, '\x01');
}

std::string npy_error(std::string_view bytes) {
  return words_of<Error>([&] { arrays::parse_npy(bytes, "a.npy"); });
}

TEST(Npy, RoundTripOfEveryType) {
  using enum ops::DType;
  for (const ops::DType dtype : {b8, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64}) {
    for (const std::vector<std::int64_t>& sizes :
         {std::vector<std::int64_t>{}, {1}, {0}, {5}, {3, 4}, {2, 0, 3}, {2, 3, 4, 5}}) {
      const Tensor tensor = counting(dtype, sizes);
      expect_equal(arrays::parse_npy(arrays::print_npy(tensor), "x"), tensor);
    }
  }
}

TEST(Npy, StridedTensorsAreWrittenRowMajor) {
  const Tensor tensor = counting(ops::DType::i32, {3, 4});
  const Tensor turned = runtime::view_of(tensor.data, tensor.dtype, {4, 3}, {1, 4});
  expect_equal(arrays::parse_npy(arrays::print_npy(turned), "x"), runtime::contiguous(turned));
}

TEST(Npy, FortranOrder) {
  const Tensor tensor =
      arrays::parse_npy(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", 0) + "abcdef", "x");
  EXPECT_EQ(std::string(static_cast<const char*>(tensor.data), 6), "acebdf");
}

TEST(Npy, ComplexElementsAreALastAxisOfTwo) {
  const std::array<float, 8> parts = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::string bytes(reinterpret_cast<const char*>(parts.data()), sizeof parts);
  const auto numbers = [&](std::string_view fortran) {
    const std::string header = cat("{'descr': '<c8', 'fortran_order': ", fortran, ", 'shape': (2, 2), }");
    const runtime::Tensor tensor = arrays::parse_npy(npy(header, 0) + bytes, "x");
    EXPECT_EQ(tensor.sizes, (std::vector<std::int64_t>{2, 2, 2}));
    const auto* data = static_cast<const float*>(tensor.data);
    return std::vector<float>(data, data + 8);
  };
  EXPECT_EQ(numbers("False"), (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers("True"), (std::vector<float>{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(Npy, Files) {
  const ScratchFolder folder;
  const Tensor tensor = counting(ops::DType::f32, {7, 3});
  arrays::write_npy(folder.file("x.npy"), tensor);
  expect_equal(arrays::read_npy(folder.file("x.npy")), tensor);
  EXPECT_THROW(arrays::read_npy(folder.file("nothing.npy")), Error);
  EXPECT_THROW(arrays::write_npy(folder.file("no/such/folder.npy"), tensor), Error);
}

TEST(Npy, BrokenOnesAreRefusedInWords) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string whole = npy(good, 24);
  const auto with = [](std::string_view descr, std::string_view shape) {
    return npy(cat("{'descr': ", descr, ", 'fortran_order': False, 'shape': ", shape, ", }"), 24);
  };
  const std::string head = "a.npy: not a usable .npy array: ";
  EXPECT_EQ(npy_error(whole), NOTHING_THROWN);
  EXPECT_EQ(npy_error(""), head + "it does not start as NumPy's format does");
  EXPECT_EQ(npy_error("PK" + whole), head + "it does not start as NumPy's format does");
  EXPECT_EQ(npy_error(whole.substr(0, 40)), head + "it ends within its header");
  EXPECT_EQ(npy_error(whole.substr(0, whole.size() - 1)),
            head + "its shape needs 24 bytes of elements, there are 23");
  EXPECT_EQ(npy_error(with("'>f4'", "(2, 3)")), head + "type '>f4' is big-endian; little-endian is read");
  EXPECT_EQ(npy_error(with("'<c16'", "(2, 3)")), head + "its shape needs 96 bytes of elements, there are 24");
  EXPECT_EQ(npy_error(with("'|O'", "(2, 3)")),
            head + "type '|O' is not one of bool, (u)int8..64, float16..64, complex64, complex128");
  EXPECT_EQ(npy_error(with("[('a', '<f4')]", "(2, 3)")), head + "'descr' is not a plain type");
  EXPECT_EQ(npy_error(with("'<f4'", "7")), head + "'shape' is not a tuple");
  EXPECT_EQ(npy_error(with("'<f4'", "(2, -3)")), head + "'shape' holds something that is not a size");
  EXPECT_EQ(npy_error(with("'<f4'", "(4294967296, 4294967296)")),
            head + "its shape has more elements than 64 bits count");
  EXPECT_EQ(npy_error(with("'<f4'", "(1099511627776,)")), head + "it asks for more than 1099511627776 bytes");
  EXPECT_EQ(npy_error(with("'<f4'", "(1000000000,)")),
            head + "its shape needs 4000000000 bytes of elements, there are 24");
  EXPECT_EQ(npy_error(npy("{'descr': '<f4', 'shape': (2, 3), }", 24)),
            head + "its header has no 'fortran_order'");
  std::string version = whole;
  version[6] = '\x09';
  EXPECT_EQ(npy_error(version), head + "version 9 of the format; 1 to 3 are read");
}

TEST(Npz, RoundTripInOrder) {
  const ScratchFolder folder;
  const std::vector<arrays::Entry> entries = {{"in1", counting(ops::DType::f32, {2, 3})},
                                              {"in0", counting(ops::DType::i64, {})},
                                              {"é x", counting(ops::DType::b8, {9})}};
  arrays::write_npz(folder.file("a.npz"), entries);
  const auto back = arrays::read_npz(folder.file("a.npz"));
  ASSERT_EQ(back.size(), entries.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    EXPECT_EQ(back[e].name, entries[e].name);
    expect_equal(back[e].tensor, entries[e].tensor);
  }
}

void write_compressed(const std::string& file, const runtime::Tensor& tensor) {
  const std::string bytes = arrays::print_npy(tensor);
  zip_t* archive = zip_open(file.c_str(), ZIP_CREATE, nullptr);
  const zip_int64_t added =
      zip_file_add(archive, "x.npy", zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
  zip_set_file_compression(archive, static_cast<zip_uint64_t>(added), ZIP_CM_DEFLATE, 0);
  ASSERT_EQ(zip_close(archive), 0);
}

TEST(Npz, NothingIsAnArchiveToo) {
  const ScratchFolder folder;
  const std::string file = folder.file("none.npz");
  arrays::write_npz(file, {});
  EXPECT_EQ(arrays::read_npz(file).size(), 0u);
}

TEST(Npz, CompressedEntriesAreRead) {
  const ScratchFolder folder;
  write_compressed(folder.file("a.npz"), counting(ops::DType::f32, {100, 100}));
  expect_equal(arrays::read_npz(folder.file("a.npz")).at(0).tensor, counting(ops::DType::f32, {100, 100}));
}

std::string npz_error(const std::string& file, const arrays::Limits& limits = {}) {
  return words_of<Error>([&] { arrays::read_npz(file, limits); });
}

TEST(Npz, DamagedOnesAreRefused) {
  const ScratchFolder folder;
  const std::string file = folder.file("a.npz");
  arrays::write_npz(file, {{"x", counting(ops::DType::f32, {64})}});
  const std::string good = read_file(file);
  EXPECT_EQ(npz_error(file), NOTHING_THROWN);

  EXPECT_NE(npz_error(folder.file("none.npz")).find("as an .npz archive: No such file"), std::string::npos);
  write_file(file, "no archive at all");
  EXPECT_NE(npz_error(file).find("Not a zip archive"), std::string::npos);
  write_file(file, good.substr(0, good.size() - 30));
  EXPECT_NE(npz_error(file), NOTHING_THROWN);

  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  write_file(file, flipped);
  EXPECT_NE(npz_error(file).find("array 'x.npy'"), std::string::npos) << npz_error(file);
}

TEST(Npz, LimitsHold) {
  const ScratchFolder folder;
  const std::string file = folder.file("a.npz");
  arrays::write_npz(file, {{"x", counting(ops::DType::f32, {64})}, {"y", counting(ops::DType::f32, {64})}});
  arrays::Limits few;
  few.entries = 1;
  EXPECT_NE(npz_error(file, few).find("holds 2 arrays; at most 1 are read"), std::string::npos);
  arrays::Limits small;
  small.bytes = 100;
  EXPECT_NE(npz_error(file, small).find("at most 100 are read"), std::string::npos);
}

// What unpacks to much more than it is: nothing is unpacked.
TEST(Npz, GrowthIsLimited) {
  const ScratchFolder folder;
  const std::string file = folder.file("a.npz");
  runtime::Tensor zeros = runtime::allocate(ops::DType::u8, {1000000});
  std::memset(zeros.data, 0, 1000000);
  write_compressed(file, zeros);
  EXPECT_EQ(npz_error(file), "nothing was thrown");
  arrays::Limits limits;
  limits.small = 999999;
  const auto held = std::filesystem::file_size(file);
  ASSERT_LT(held, 2000);
  EXPECT_EQ(npz_error(file, limits), cat("'", file, "' has ", held,
                                         " bytes and asks for 1000128; at most 999999 are "
                                         "read"));
  limits.growth = 10000;
  EXPECT_EQ(npz_error(file, limits), "nothing was thrown");
}

TEST(Npy, EndlessOnesAreRefused) {
  arrays::Limits limits;
  limits.bytes = 1 << 22;
  std::string words;
  try {
    arrays::read_npy("/dev/zero", limits);
  } catch (const Error& error) {
    words = error.what();
  }
  EXPECT_EQ(words, "'/dev/zero' holds more than 4194304 bytes");
}

}  // namespace
}  // namespace twinloom::tests
