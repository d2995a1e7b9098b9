// Images of code: they run wherever they lie, call the host, and what is damaged is an Error.
#include "jit/code_image.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.h"
#include "jit/clang_compiler.h"
#include "jit/link_image.h"
#include "tests/support/thrown.h"

namespace twinloom::jit {
namespace {

using Function = double (*)(double);

CodeImage image_of(const std::string& text) {
  static const Compiler compiler({"x86-64-v3", {}, 256}, {}, "");
  return link_image(compiler.compile(text, "text"), "run");
}

Function function_of(const LoadedCode& code) { return reinterpret_cast<Function>(code.entry()); }

// Constants, a function of its own, and one of the host.
const char* const text =
    "extern \"C\" double fmod(double, double);\n"
    "static const double table[] = {1.5, 2.5, 3.5, 7.25};\n"
    "__attribute__((noinline)) static double second(double x) { return x + table[(int)x & 3]; }\n"
    "extern \"C\" double run(double x) { return second(x) + 0.125 * fmod(x, 3.0); }\n";

TEST(CodeImage, RunsWhereverItLies) {
  const CodeImage image = image_of(text);
  ASSERT_EQ(image.imports.size(), 1u);
  EXPECT_EQ(image.imports[0].name, "fmod");
  EXPECT_EQ(unpacked(packed(image)), image);
  std::vector<LoadedCode> copies;
  for (int copy = 0; copy < 3; ++copy) copies.emplace_back(image, default_host_symbols());
  EXPECT_NE(copies[0].entry(), copies[1].entry());
  for (const LoadedCode& code : copies) {
    EXPECT_EQ(function_of(code)(7.0), 7.0 + 7.25 + 0.125);
    EXPECT_EQ(function_of(code)(5.0), 5.0 + 2.5 + 0.25);
  }
}

// LLVM has such a vector among the data that may be written.
TEST(CodeImage, HoldsConstantsOfManyBytes) {
  const LoadedCode code(image_of("typedef long Many __attribute__((ext_vector_type(16)));\n"
                                 "extern \"C\" double run(double x) {\n"
                                 "  Many many = (Many)(long)x;\n"
                                 "  many &= (Many)0x7fffffffffffffffl;\n"
                                 "  return (double)(many[0] + many[15]);\n}\n"),
                        default_host_symbols());
  EXPECT_EQ(function_of(code)(21.0), 42.0);
}

TEST(CodeImage, AnObjectThatCannotBeOneIsABug) {
  EXPECT_NE(tests::words_of<Bug>([] {
              image_of("extern \"C\" double other(double x) { return x; }\n");
            }).find("it does not define run"),
            std::string::npos);
  const char* const writes = "double kept;\nextern \"C\" double run(double x) { kept = x; return x; }\n";
  EXPECT_NE(tests::words_of<Bug>([&] { image_of(writes); }).find("it has data that is written"),
            std::string::npos);
  const char* const pointers =
      "static double one(double x) { return x + 1; }\nstatic double two(double x) { return x + 2; }\n"
      "static double (*const volatile table[])(double) = {one, two};\n"
      "extern \"C\" double run(double x) { return table[(int)x & 1](x); }\n";
  EXPECT_NE(tests::words_of<Bug>([&] { image_of(pointers); }).find("cannot link the object 'text'"),
            std::string::npos);
}

TEST(CodeImage, WhatIsDamagedIsAnError) {
  const std::string whole = packed(image_of(text));
  for (const std::size_t bytes : {0u, 7u, 15u, 24u, 33u}) {
    EXPECT_NE(tests::words_of<Error>([&] {
                unpacked(std::string_view(whole).substr(0, bytes));
              }).find("machine code is cut off"),
              std::string::npos)
        << bytes;
  }
  const auto refused = [](const CodeImage& image) {
    return tests::words_of<Error>([&] { LoadedCode(image, default_host_symbols()); });
  };
  CodeImage image = image_of(text);
  image.entry = static_cast<std::int64_t>(image.bytes.size());
  EXPECT_NE(refused(image).find("has something at its byte"), std::string::npos);
  image = image_of(text);
  image.imports[0].offset = static_cast<std::int64_t>(image.bytes.size()) - 7;
  EXPECT_NE(refused(image).find("has something at its byte"), std::string::npos);
  image.imports[0] = {-8, "fmod"};
  EXPECT_NE(refused(image).find("has something at its byte -8"), std::string::npos);
  image.imports[0] = {0, "system"};
  EXPECT_EQ(refused(image), "machine code calls 'system', which this library does not have");
}

}  // namespace
}  // namespace twinloom::jit
