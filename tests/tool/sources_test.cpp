// What `twinloom export --cpp` writes, and what it refuses. tests/sources builds what is written.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

class ToolSources : public testing::Test {
 protected:
  void SetUp() override { place.write("softmax.fx", softmax_text); }
  Workplace place;
};

TEST_F(ToolSources, TheHeaderSaysWhatTheFunctionTakes) {
  EXPECT_SAYS(place.run("export softmax.fx --cpp out --isa avx2"), "out: softmax() in softmax.h");
  const std::string header = place.read("out/softmax.h");
  for (const char* line :
       {"//   x  f32[s0, 8]\n", "//   s0  the size s0\n", "//   out", "to f32[s0, 8]: result 0",
        "void softmax(const float* x, std::int64_t s0, float* out"})
    EXPECT_NE(header.find(line), std::string::npos) << header;
  const std::string source = place.read("out/softmax.cpp");
  EXPECT_NE(source.find("the size s0 is \" + std::to_string(s0) + \"; expected at least 1"),
            std::string::npos)
      << source;
  EXPECT_NE(place.read("out/CMakeLists.txt").find("-march=x86-64-v3 -ffp-contract=off"), std::string::npos);
  EXPECT_EQ(header.find("twinloom/"), std::string::npos) << header;
}

// Nothing is written for what the caller has; a name that the function has for itself is another there.
TEST_F(ToolSources, TheHeaderNamesResultsThatAreParameters) {
  place.write("own.fx", R"(class GraphModule(torch.nn.Module):
    def forward(self, sizes: "f32[4, 6]", double: "i64[4]"):
        turned: "f32[6, 4]" = torch.ops.aten.permute.default(sizes, [1, 0])
        more: "i64[4]" = torch.ops.aten.add.Tensor(double, 1)
        return (turned, more)
)");
  EXPECT_CODE(place.run("export own.fx --cpp out"), 0);
  const std::string header = place.read("out/own.h");
  EXPECT_NE(header.find("// Result 0 is a view of parameter sizes, or all of it."), std::string::npos)
      << header;
  EXPECT_NE(header.find("void own(const float* sizes_, const std::int64_t* double_, "), std::string::npos)
      << header;
}

TEST_F(ToolSources, KernelsForAClassOfSizesRefuseOthers) {
  EXPECT_CODE(place.run("export softmax.fx --cpp out --size s0=64"), 0);
  EXPECT_NE(place.read("out/softmax.cpp").find("; these kernels are for "), std::string::npos);
}

TEST_F(ToolSources, WhatLiesInTheFolderStays) {
  std::filesystem::create_directory(place.file("out"));
  place.write("out/softmax.h", "mine");
  const Outcome refused = place.run("export softmax.fx --cpp out");
  EXPECT_CODE(refused, 2);
  EXPECT_SAYS(refused, "the folder 'out' is not empty; files in it are overwritten with --force");
  EXPECT_EQ(place.read("out/softmax.h"), "mine");
  EXPECT_CODE(place.run("export softmax.fx --cpp out --force"), 0);
  EXPECT_NE(place.read("out/softmax.h"), "mine");
}

TEST_F(ToolSources, BadOptionsAreErrors) {
  const auto says = [&](const std::string& options, const std::string& words) {
    const Outcome outcome = place.run("export softmax.fx " + options);
    EXPECT_CODE(outcome, 2) << options;
    EXPECT_SAYS(outcome, words);
  };
  place.write("file", "");
  says("",
       "export writes a package, sources or a model; expected --package FILE, --cpp FOLDER, --cuda FOLDER or "
       "--onnx FILE");
  says("--cpp file", "'file' is no folder");
  says("--cpp file/out", "the folder 'file/out' cannot be made: ");
  says("--cpp out --isa avx2,avx512", "--cpp writes kernels for one instruction set; --isa names several");
  says("--cpp out --isa sse2", "cpu: unknown instruction set 'sse2'; known are avx2 and avx512");
  says("--cpp out --sm 90",
       "--cpp writes kernels for processors; --sm names a GPU, as --cuda and --package take it");
  says("--cuda out --isa avx2", "--cuda writes kernels for GPUs; --isa names a processor's instruction set");
  says("--cuda out --sm 80", "--cuda writes kernels for sm_90; --sm names sm_80");
  says("--cpp out --size s0=0", "an example has the size s0 = 0; exported kernels are for sizes above 0");
}

TEST_F(ToolSources, AModelOfOnnxGivesTheSame) {
  EXPECT_SAYS(place.run("export softmax.fx --onnx softmax.onnx"), "softmax.onnx: ");
  const Outcome verified = place.run("run softmax.onnx --size s0=3 --input x=1");
  EXPECT_CODE(verified, 0);
  EXPECT_SAYS(place.run("dump softmax.onnx"), "f32 [s0, 8] = input slot 0 name \"x\"");
  EXPECT_SAYS(place.run("export softmax.fx --onnx missing/softmax.onnx"),
              "'missing/softmax.onnx' cannot be written");
}

}  // namespace
}  // namespace twinloom::tests
