// Sources of a graph by the public API.
#include <gtest/gtest.h>

#include <twinloom/twinloom.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/scratch_folder.h"

namespace twinloom {
namespace {

class ApiSources : public testing::Test {
 protected:
  ApiSources() {
    builder.output(exp(builder.input("x", float32, {3, 4})));
    graph.emplace(builder.take());
  }
  bool writes(const std::string& target, const std::string& file) {
    SourceOptions how;
    how.target = target;
    how.name = "rows";
    how.overwrite = true;
    export_sources(*graph, folder.file("out"), arguments, {Mode::strict}, how);
    return std::filesystem::exists(folder.file("out/" + file));
  }
  std::string refusal(const std::string& target) {
    try {
      writes(target, "rows.h");
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }

  tests::ScratchFolder folder;
  Builder builder{"rows"};
  std::optional<Graph> graph;
  std::vector<float> elements = std::vector<float>(12, 1.0f);
  std::vector<Value> arguments = {Tensor::view(elements.data(), {3, 4})};
};

TEST_F(ApiSources, AreWrittenForEachTarget) {
  EXPECT_TRUE(writes("", "rows.cpp"));
  EXPECT_TRUE(writes("avx512", "samples/x.bin"));
#ifdef TWINLOOM_HAS_CUDA
  EXPECT_TRUE(writes("sm_90", "kernels/rows_k0_exp.cu"));
#endif
}

TEST_F(ApiSources, OfUnknownTargetsAndWithoutDataAreErrors) {
  EXPECT_EQ(refusal("sse2"), "cpu: unknown instruction set 'sse2'; known are avx2 and avx512");
  arguments.clear();
  EXPECT_EQ(refusal(""), "the graph has 1 parameters, given were 0");
  arguments = {Tensor::view<float>(nullptr, {3, 4})};
  EXPECT_EQ(refusal(""), "argument 0: has elements, and its data is NULL");
}

}  // namespace
}  // namespace twinloom
