// What of the device headers is handed to NVRTC beside a kernel.
#include <gtest/gtest.h>

#include "backends/cuda/declarations.h"
#include "backends/cuda/device_text.h"
#include "core/base/text.h"
#include "tests/cuda/compiler.h"

namespace twinloom::cuda {

namespace {

constexpr std::string_view TEXT = R"(#define LATER(x) second(x)
namespace a {
struct alignas(8) Pair { int x, y; };
template <class Of, int n>
struct Held;
template <class Of>
struct Held<Of, 1> { Of lane; };
inline __attribute__((always_inline)) int first(int x) { return x; }
inline int first(Pair p) { if (p.x > 0) { return p.y; } return p.x; }
template <class Of> Held<Of, 1> second(Of x) { return {Of(first(x))}; }
constexpr int values[] = {1, 2};
}
namespace b {
using a::Pair;
constexpr int third = 3;
Pair operator+(Pair p, Pair q) { return {p.x + q.x, p.y + q.y}; }
}
)";

TEST(Declarations, OnlyWhatIsNamedIsNeeded) {
  const Declarations all(TEXT);
  EXPECT_EQ(all.needed_by("int k() { return third; }"), R"(namespace a {
struct alignas(8) Pair { int x, y; };
}
namespace b {
using a::Pair;
constexpr int third = 3;
Pair operator+(Pair p, Pair q) { return {p.x + q.x, p.y + q.y}; }
}
)");
}

TEST(Declarations, WhatIsNeededNeedsMore) {
  const std::string text = Declarations(TEXT).needed_by("int k() { return LATER(2); }");
  for (const std::string_view part :
       {"#define LATER(x) second(x)\nnamespace a {", "Held<Of, 1> second(", "struct Held;",
        "struct Held<Of, 1>", "int first(int x)", "int first(Pair p) { if"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("values"), std::string::npos) << text;
}

TEST(Declarations, CommentsNeedNothing) {
  EXPECT_EQ(Declarations(TEXT).needed_by("// values, LATER(third)\nint k;").find("values"),
            std::string::npos);
}

// Whatever is asked for: NVRTC takes what is left.
TEST(Declarations, OfTheDeviceHeadersEveryOneStandsAlone) {
  TWINLOOM_NEEDS_NVRTC();
  for (const char* name :
       {"exp", "sin", "pow", "lgamma", "philox_uniform", "stable_sort", "load_packed", "find", "from_lane",
        "narrow", "gather_where", "block_arrives_last", "prefetch_run"}) {
    const std::string needed = needed_headers(name);
    EXPECT_LT(needed.size(), flat_headers().size() * 2 / 3) << name;
    EXPECT_EQ(
        nvrtc().compile("#include \"cuda/routines.h\"\n", name, {{ENTRY_HEADER, needed}}, {"sm_90a", {}}).log,
        "");
  }
}

// The PTX of a kernel that is given what it needs of the device headers, as compiled kernels are.
std::string ptx_of(std::string_view kernel, const char* architecture) {
  const std::string text =
      cat("#include \"cuda/routines.h\"\nnamespace twinloom::device {\nextern \"C\" __global__ void kernel(",
          kernel, "\n}\n");
  const std::string needed = needed_headers(text);
  return nvrtc().compile(text, "kernel", {{ENTRY_HEADER, needed}}, {architecture, {}}).bytes;
}

struct Since90 {
  const char *name, *statements, *instruction;
};
class OfAnArchitecture : public ::testing::TestWithParam<Since90> {};

TEST_P(OfAnArchitecture, IsInKernelsForIt) {
  TWINLOOM_NEEDS_NVRTC();
  const auto has = [&](const char* architecture) {
    const std::string kernel = cat("f32* p, i64 n) { ", GetParam().statements, " }");
    return ptx_of(kernel, architecture).find(GetParam().instruction) != std::string::npos;
  };
  EXPECT_TRUE(has("compute_90"));
  EXPECT_FALSE(has("compute_80"));
}

INSTANTIATE_TEST_SUITE_P(
    Since, OfAnArchitecture,
    ::testing::Values(Since90{"waiting", "const Predecessors all; *static_cast<f32*>(all.wrote(p)) = n;",
                              "griddepcontrol.wait"},
                      Since90{"fetching", "prefetch_run(p, n);", "cp.async.bulk.prefetch"},
                      Since90{"adding", "atomic_add_run(p, Vector<f32, 4>(f32(n)));",
                              "red.global.add.v4.f32"}),
    [](const auto& of) { return of.param.name; });

// ptxas moves such a load ahead of the wait.
TEST(Predecessors, NothingIsLoadedAsIfItWereNeverWritten) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string ptx = ptx_of(
      "void* __restrict__ to, void* __restrict__ from) {\n"
      "  const Predecessors all;\n"
      "  *static_cast<f32*>(all.wrote(to)) = *static_cast<const f32*>(all.wrote(from));\n}",
      "compute_90");
  const std::size_t waits = ptx.find("griddepcontrol.wait"), loads = ptx.find("ld.global");
  ASSERT_NE(waits, std::string::npos) << ptx;
  ASSERT_NE(loads, std::string::npos) << ptx;
  EXPECT_LT(waits, loads) << ptx;
  EXPECT_EQ(ptx.find("ld.global.nc"), std::string::npos) << ptx;
}

}  // namespace

}  // namespace twinloom::cuda
