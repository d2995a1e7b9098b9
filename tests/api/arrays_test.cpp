// Arrays in files by the C API: what is written is read back, and what cannot be is an error.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <string>

#include "api/include/twinloom/twinloom.h"
#include "tests/api/failures.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::c {
namespace {

class Arrays : public testing::Test {
 protected:
  ~Arrays() override { twinloom_arrays_free(arrays); }
  std::string file(const char* of) const { return folder.file(of); }
  twinloom_error* write(const std::string& path, std::size_t count) {
    return twinloom_arrays_write(path.c_str(), named.data(), count);
  }
  twinloom_error* read(const std::string& path) {
    twinloom_arrays_free(std::exchange(arrays, nullptr));
    return twinloom_arrays_read(path.c_str(), &arrays);
  }

  tests::ScratchFolder folder;
  std::array<float, 6> floats = {1, 2, 3, 4, 5, 6};
  std::array<std::uint16_t, 2> halves = {0x3f80, 0xc000};
  std::array<std::int64_t, 2> shape = {2, 3}, turned = {1, 2};
  std::int64_t two = 2;
  DLTensor x = {floats.data(), {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape.data(), nullptr, 0};
  DLTensor y = {halves.data(), {kDLCPU, 0}, 1, {kDLBfloat, 16, 1}, &two, nullptr, 0};
  std::array<twinloom_named_tensor, 2> named = {{{"x", &x}, {"y", &y}}};
  twinloom_arrays* arrays = nullptr;
  const char* name = nullptr;
  DLManagedTensor* tensor = nullptr;
};

TEST_F(Arrays, OfAnArchiveHaveTheirNamesTypesAndElements) {
  x.strides = turned.data();
  expect_ok(write(file("both.npz"), 2));
  expect_ok(read(file("both.npz")));
  ASSERT_EQ(twinloom_arrays_count(arrays), 2u);
  expect_ok(twinloom_arrays_get(arrays, 0, &name, &tensor));
  EXPECT_STREQ(name, "x");
  EXPECT_EQ(tensor->dl_tensor.shape[1], 3);
  const auto* elements = static_cast<const float*>(tensor->dl_tensor.data);
  EXPECT_EQ(std::vector<float>(elements, elements + 6), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  tensor->deleter(tensor);
  expect_ok(twinloom_arrays_get(arrays, 1, &name, &tensor));
  EXPECT_STREQ(name, "y");
  EXPECT_EQ(tensor->dl_tensor.dtype.code, kDLBfloat);
  twinloom_arrays_free(std::exchange(arrays, nullptr));
  EXPECT_EQ(std::memcmp(tensor->dl_tensor.data, halves.data(), sizeof halves), 0) << "it outlives the arrays";
  tensor->deleter(tensor);
}

TEST_F(Arrays, OfAnNpyFileAreOneWithoutAName) {
  expect_ok(write(file("x.npy"), 1));
  expect_ok(read(file("x.npy")));
  ASSERT_EQ(twinloom_arrays_count(arrays), 1u);
  expect_ok(twinloom_arrays_get(arrays, 0, &name, &tensor));
  EXPECT_STREQ(name, "");
  EXPECT_EQ(std::memcmp(tensor->dl_tensor.data, floats.data(), sizeof floats), 0);
  tensor->deleter(tensor);
  expect_invalid(twinloom_arrays_get(arrays, 1, &name, &tensor), "there is no array 1; the file has 1");
}

TEST_F(Arrays, ThatCannotBeReadOrWrittenAreErrors) {
  expect_invalid(write(file("x.txt"), 1), "does not end in .npy or .npz");
  expect_invalid(read(file("x.txt")), "does not end in .npy or .npz");
  expect_invalid(read(file("missing.npz")), "missing.npz");
  expect_invalid(write(file("x.npy"), 2), "2 arrays were given for an .npy file; it holds 1");
  expect_invalid(twinloom_arrays_write(file("x.npz").c_str(), nullptr, 1), "tensors is NULL");
  named[1].name = nullptr;
  expect_invalid(write(file("x.npz"), 2), "the name of array 1 is NULL");
  named[1] = {"y", nullptr};
  expect_invalid(write(file("x.npz"), 2), "array 1: the tensor is NULL");
  x.device = {kDLCUDA, 0};
  expect_invalid(write(file("x.npy"), 1), "array 0: lies on a GPU; expected memory of this process");
  EXPECT_FALSE(std::filesystem::exists(file("x.npy")));
  EXPECT_FALSE(std::filesystem::exists(file("x.npz")));
}

}  // namespace
}  // namespace twinloom::c
