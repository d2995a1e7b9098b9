// The compiler and the session together: text in, machine code that runs out. Also what is wrong with a
// text, as its words; the targets that this machine lacks are compiled and read as assembly.
#include "jit/clang_compiler.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "core/base/error.h"
#include "jit/orc_session.h"
#include "tests/support/thrown.h"

namespace twinloom::jit {
namespace {

const Target avx2{"x86-64-v3", {}, 256};
const Target avx512{"x86-64-v4", {"avx512bf16"}, 512};

// A device header as a backend would embed it.
constexpr const char* vector_header = R"(
#pragma once
#define INLINE inline __attribute__((always_inline))
typedef float Vector __attribute__((ext_vector_type(LANES)));
typedef float Unaligned __attribute__((ext_vector_type(LANES), aligned(4)));
INLINE Vector load(const float* from) { return *(const Unaligned*)from; }
INLINE void store(float* to, Vector value) { *(Unaligned*)to = value; }
)";

constexpr const char* scale_text = R"(
extern "C" void scale(float* __restrict out, const float* __restrict in, long long size) {
  for (long long i = 0; i < size; i += LANES) store(out + i, load(in + i) * 2.0f + 1.0f);
}
)";

Compiler vector_compiler(const Target& target, std::string_view precompiled = {}) {
  const std::string lanes = cat("#define LANES ", target.vector_bits / 32, "\n");
  return Compiler(target, {{"device/vector.h", vector_header}}, lanes + "#include \"device/vector.h\"\n", {},
                  precompiled);
}

template <class Function>
Function* function(const Module& module, const std::string& name) {
  return reinterpret_cast<Function*>(module.address(name));
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void expect_scales(const Module& module) {
  std::array<float, 32> in{};
  std::array<float, 32> out{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  function<void(float*, const float*, long long)>(module, "scale")(out.data(), in.data(), 32);
  for (std::size_t i = 0; i < in.size(); ++i) EXPECT_EQ(out[i], 2.0f * in[i] + 1.0f);
}

TEST(Compiler, RunsAVectorKernel) {
  const Compiler compiler = vector_compiler(avx2);
  const Object object = compiler.compile(scale_text, "scale");
  EXPECT_GT(object.times.parse, 0.0);
  EXPECT_GT(object.times.optimise, 0.0);
  EXPECT_GT(object.times.codegen, 0.0);
  expect_scales(Session({}).load(object));
}

TEST(Compiler, PrepareChangesNothingButTheTime) {
  const Compiler prepared = vector_compiler(avx2);
  prepared.prepare();
  EXPECT_EQ(prepared.compile(scale_text, "scale").bytes,
            vector_compiler(avx2).compile(scale_text, "scale").bytes);
}

TEST(Compiler, APrecompiledPreludeServesAnotherCompiler) {
  const std::string kept = vector_compiler(avx2).precompiled();
  const Compiler compiler = vector_compiler(avx2, kept);
  EXPECT_EQ(compiler.precompiled(), kept);
  expect_scales(Session({}).load(compiler.compile(scale_text, "scale")));
}

TEST(Compiler, APreludeOfAnotherTargetIsLeftAlone) {
  const std::string foreign = vector_compiler(avx512).precompiled();
  for (const std::string& given : {foreign, std::string("no prelude"), foreign.substr(0, 8)}) {
    const Compiler compiler = vector_compiler(avx2, given);
    EXPECT_EQ(compiler.compile(scale_text, "scale").bytes,
              vector_compiler(avx2).compile(scale_text, "scale").bytes);
  }
}

TEST(Compiler, SameTextGivesSameBytes) {
  const Compiler compiler = vector_compiler(avx2);
  EXPECT_EQ(compiler.compile(scale_text, "scale").bytes, compiler.compile(scale_text, "scale").bytes);
}

TEST(Compiler, MultipliesAndAddsWithTwoRoundings) {
  const Compiler compiler = vector_compiler(avx2);
  const Module module = Session({}).load(
      compiler.compile("extern \"C\" float f(float a, float b, float c) { return a * b + c; }", "f"));
  const float a = 1.0f + 0x1p-12f;
  // a * a is 1 + 2^-11 + 2^-24, which rounds to even and loses its last bit; fused, the bit would stay.
  EXPECT_EQ(function<float(float, float, float)>(module, "f")(a, a, -1.0f), 0x1p-11f);
}

TEST(Compiler, RoundsEachHalfOperation) {
  const Compiler compiler = vector_compiler(avx2);
  const Module module =
      Session({}).load(compiler.compile("extern \"C\" float f(float a, float b, float c) {"
                                        "  return (float)((_Float16)a + (_Float16)b + (_Float16)c); }",
                                        "f"));
  // 2048 + 1 rounds to 2048 in half precision, twice; in float the sum would be 2050.
  EXPECT_EQ(function<float(float, float, float)>(module, "f")(2048.0f, 1.0f, 1.0f), 2048.0f);
}

TEST(Compiler, RoundsToBfloat16ByTheHost) {
  const Compiler compiler = vector_compiler(avx2);
  const Module module = Session({}).load(
      compiler.compile("extern \"C\" float of_float(float a) { return (float)(__bf16)a; }\n"
                       "extern \"C\" float of_double(double a) { return (float)(__bf16)a; }\n",
                       "bfloat16"));
  const auto of_float = function<float(float)>(module, "of_float");
  EXPECT_EQ(of_float(1.0f + 0x1p-8f), 1.0f);
  EXPECT_EQ(of_float(1.0f + 0x1.8p-7f), 1.0f + 0x1p-6f);
  EXPECT_TRUE(std::isnan(of_float(std::nanf(""))));
  EXPECT_TRUE(std::isinf(of_float(3.4e38f)));
  const auto of_double = function<float(double)>(module, "of_double");
  // Just above the middle, by less than a float can say: rounding twice would go down.
  EXPECT_EQ(of_double(1.0 + 0x1p-8 + 0x1p-40), 1.0f + 0x1p-7f);
  EXPECT_EQ(of_double(1.0 + 0x1p-8 - 0x1p-40), 1.0f);
  EXPECT_EQ(of_double(-1.0 - 0x1p-8 - 0x1p-40), -1.0f - 0x1p-7f);
}

TEST(Compiler, CallsMemcpyAndFmod) {
  const Compiler compiler = vector_compiler(avx2);
  const Module module = Session({}).load(
      compiler.compile("struct Block { char bytes[4096]; };\n"
                       "extern \"C\" void copy(Block* to, const Block* from) { *to = *from; }\n"
                       "extern \"C\" float rest(float a, float b) { return __builtin_fmodf(a, b); }\n"
                       "extern \"C\" float root(float a) { return __builtin_sqrtf(a); }\n",
                       "calls"));
  std::array<char, 4096> from{};
  std::array<char, 4096> to{};
  from.fill('x');
  function<void(char*, const char*)>(module, "copy")(to.data(), from.data());
  EXPECT_EQ(to, from);
  EXPECT_EQ(function<float(float, float)>(module, "rest")(7.5f, 2.0f), 1.5f);
  EXPECT_EQ(function<float(float)>(module, "root")(9.0f), 3.0f);
}

TEST(Compiler, WordsOfABrokenTextShowLineAndSource) {
  const Compiler compiler = vector_compiler(avx2);
  const std::string words = tests::words_of<Bug>(
      [&] { compiler.compile("int fine;\nfloat broken = unknown_name + 1;\n", "broken"); });
  expect_contains(words, "Clang rejects the text 'broken'");
  expect_contains(words, "broken.cpp:2:16: error: use of undeclared identifier 'unknown_name'");
  expect_contains(words, "float broken = unknown_name + 1;");
  EXPECT_EQ(words.find("the text is in"), std::string::npos);
  expect_scales(Session({}).load(compiler.compile(scale_text, "scale")));
}

TEST(Compiler, DumpsABrokenTextWhereAsked) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "twinloom_dump";
  std::filesystem::create_directories(folder);
  const Compiler compiler(avx2, {}, "", folder.string());
  const std::string words = tests::words_of<Bug>([&] { compiler.compile("broken\n", "dumped"); });
  expect_contains(words, cat("the text is in ", (folder / "dumped.cpp").string()));
  EXPECT_EQ(file_text(folder / "dumped.cpp"), "broken\n");
  std::filesystem::remove_all(folder);
}

TEST(Compiler, WordsOfABrokenPreludeNameIt) {
  const Compiler compiler(avx2, {{"device/bad.h", "int a = ;\n"}}, "#include \"device/bad.h\"\n");
  const std::string words = tests::words_of<Bug>([&] { compiler.compile("", "kernel"); });
  expect_contains(words, "device/bad.h:1:9: error: expected expression");
}

TEST(Compiler, WrongAssemblyIsABug) {
  const Compiler compiler = vector_compiler(avx2);
  const std::string words = tests::words_of<Bug>(
      [&] { compiler.compile("extern \"C\" void f() { asm volatile(\"no_such_instruction\"); }", "f"); });
  expect_contains(words, "no_such_instruction");
}

TEST(Compiler, ReadsNoFileOfTheDisk) {
  const Compiler compiler = vector_compiler(avx2);
  expect_contains(
      tests::words_of<Bug>([&] { compiler.compile("#include \"/usr/include/string.h\"\n", "f"); }),
      "'/usr/include/string.h' file not found");
  expect_contains(tests::words_of<Bug>([&] { compiler.compile("#include <stdint.h>\n", "f"); }),
                  "'stdint.h' file not found");
}

// In a process of its own, because a crash leaks by design.
TEST(Compiler, SurvivesACrashOfClang) {
  const auto crash_and_go_on = [] {
    const Compiler compiler = vector_compiler(avx2);
    for (const char* cause : {"crash", "llvm_fatal_error"}) {
      const std::string text = cat("#pragma clang __debug ", cause, "\n");
      std::cerr << tests::words_of<Bug>([&] { compiler.compile(text, "f"); }) << '\n';
    }
    expect_scales(Session({}).load(compiler.compile(scale_text, "scale")));
    std::_Exit(testing::Test::HasFailure() ? 1 : 0);
  };
  // Nothing else is printed: the words are all there is.
  EXPECT_EXIT(crash_and_go_on(), testing::ExitedWithCode(0),
              "^f: the compiler crashed with code [0-9]+\n"
              "f: the compiler gave up: #pragma clang __debug llvm_fatal_error\n$");
}

TEST(Compiler, CompilesDeepNesting) {
  const Compiler compiler = vector_compiler(avx2);
  const std::string open(2000, '(');
  const std::string close(2000, ')');
  const Module module = Session({}).load(
      compiler.compile(cat("extern \"C\" int f(int x) { return ", open, "x", close, "; }"), "deep"));
  EXPECT_EQ(function<int(int)>(module, "f")(7), 7);
}

TEST(Compiler, ThreadsCompileAtOnce) {
  const Compiler compiler = vector_compiler(avx2);
  const Session session({});
  const auto compile_some = [&](int first) {
    for (int i = first; i < first + 8; ++i) {
      const std::string text = cat("extern \"C\" int f(int x) { return x + ", i, "; }");
      const Module module = session.load(compiler.compile(text, cat("add_", i)));
      EXPECT_EQ(function<int(int)>(module, "f")(1), i + 1);
      if (i % 4 == 0) tests::words_of<Bug>([&] { compiler.compile("broken", "broken"); });
    }
  };
  std::thread one(compile_some, 0);
  std::thread two(compile_some, 100);
  std::thread three(compile_some, 200);
  one.join();
  two.join();
  three.join();
}

TEST(Compiler, UsesTheWidthOfTheTarget) {
  expect_contains(vector_compiler(avx2).assembly(scale_text, "scale"), "ymm");
  EXPECT_EQ(vector_compiler(avx2).assembly(scale_text, "scale").find("zmm"), std::string::npos);
  expect_contains(vector_compiler(avx512).assembly(scale_text, "scale"), "zmm");
  EXPECT_FALSE(vector_compiler(avx512).compile(scale_text, "scale").bytes.empty());
}

TEST(Compiler, IdentityTellsWhatDecidesTheCode) {
  const std::string identity = vector_compiler(avx2).identity();
  expect_contains(identity, "clang version 19.");
  expect_contains(identity, "-target-cpu x86-64-v3");
  expect_contains(identity, "-ffp-contract=off");
  EXPECT_NE(identity, vector_compiler(avx512).identity());
  EXPECT_NE(Compiler(avx2, {{"a.h", "int a;"}}, "").identity(),
            Compiler(avx2, {{"a.h", "int b;"}}, "").identity());
  EXPECT_EQ(Compiler({"x86-64-v4", {"avx10.1-256", "+avx512bf16"}, 512}, {}, "").identity(),
            Compiler({"x86-64-v4", {"avx512bf16"}, 512}, {}, "").identity());
}

TEST(Compiler, RefusesAMissingFeatureAndAPath) {
  expect_contains(tests::words_of<Bug>([] {
                    Compiler({"x86-64-v3", {"-fma"}, 256}, {}, "");
                  }),
                  "target feature -fma");
  const Compiler compiler(avx2, {}, "");
  expect_contains(tests::words_of<Bug>([&] { compiler.compile("", "a/b"); }), "'a/b' is no plain file name");
}

}  // namespace
}  // namespace twinloom::jit
