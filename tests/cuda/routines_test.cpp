// Every function that generated text may call, beyond the operators, compiles for the GPU without a warning.
#include <gtest/gtest.h>

#include "backends/cuda/device_text.h"
#include "tests/cuda/compiler.h"

namespace twinloom::cuda {
namespace {

// OF and LANES are defined by the options. A value is what memory holds and an operator takes.
constexpr const char* KERNEL = R"(
#include "cuda/routines.h"
namespace twinloom::device {
using Value = Vector<OF, LANES>;
using Places = Vector<i64, LANES>;

extern "C" __global__ void loads(const Arguments* arguments, i64 n) {
  const OF* const a = static_cast<const OF*>(arguments->buffers[0]);
  OF* const out = static_cast<OF*>(arguments->buffers[1]);
  const Places places = ramp<LANES>(n, 3);
  const auto mask = first_lanes<LANES>(n);
  prefetch<LANES>(a);
  prefetch_run(a, 100);
  prefetch_written<LANES>(out);
  Value v = load<LANES>(a);
  v = maximum(v, load_first<LANES>(a, n, OF(1)));
  v = maximum(v, load_reversed<LANES>(a));
  v = maximum(v, load_strided<LANES>(a, n));
  v = maximum(v, load_strided_where<LANES>(a, n, mask, OF(2)));
  v = maximum(v, gather<LANES>(a, places));
  v = maximum(v, gather_where<LANES>(a, places, mask, OF(3)));
  OF row[3];
  store_first_of<1, 3>(row, n, v);
  v = where(first_lanes<LANES, 1, 3>(n), load_first_of<LANES, 1, 3>(row, n, OF(4)), v);
  store(out, v);
}
extern "C" __global__ void stores(const Arguments* arguments, i64 n) {
  OF* const out = static_cast<OF*>(arguments->buffers[1]);
  const Places places = ramp<LANES>(n, 3);
  const auto mask = first_lanes<LANES>(n);
  const Value v = load<LANES>(out);
  store_streaming(out, v);
  store_first(out, n, v);
  store_reversed(out, v);
  store_strided(out, n, v);
  store_strided_where(out, n, mask, v);
  scatter(out, places, v);
  scatter_where(out, places, mask, v);
  stores_done();
}
extern "C" __global__ void atomics(const Arguments* arguments, i64 n) {
  OF* const out = static_cast<OF*>(arguments->buffers[1]);
  const Places places = ramp<LANES>(n, 3);
  const auto mask = first_lanes<LANES>(n);
  const Value v = load<LANES>(out);
  atomic_add_store(out, out[1]);
  atomic_add_store_strided(out, n, v);
  atomic_add_run(out, v);
  atomic_add_store_strided_where(out, n, mask, v);
  atomic_add_scatter(out, places, v);
  atomic_add_scatter_where(out, places, mask, v);
  atomic_max_store(out, out[1]);
  atomic_max_store_strided(out, n, v);
  atomic_max_store_strided_where(out, n, mask, v);
  atomic_max_scatter(out, places, v);
  atomic_max_scatter_where(out, places, mask, v);
}
extern "C" __global__ void indices(const Arguments* arguments, i64 n) {
  const OF* const a = static_cast<const OF*>(arguments->buffers[0]);
  OF* const out = static_cast<OF*>(arguments->buffers[1]);
  const Places places = least(ramp<LANES>(n, 3), Places(n)), divisor(arguments->sizes[0]);
  const Found<LANES> found = find<LANES>(greatest(floor_div(places, divisor), floor_mod(places, divisor)),
                                         first_lanes<LANES>(n), n, true, 7, {n, 3}, arguments->failure);
  if (any_lane(found.ok)) store(out, where(found.ok, gather<LANES>(a, found.place), Value(OF(1))));
  out[trailing_zeros(n)] = OF(least(floor_div(n, i64(3)), floor_mod(n, i64(5))));
  out[least(floor_div(int(n), 3), floor_mod(int(n), 5))] = OF(2);
  if (n < 1000) store(out, gather<LANES>(a, least(short_div(places, divisor), short_mod(places, divisor))));
}
extern "C" __global__ void of_a_warp(const Arguments* arguments, i64 n) {
  const OF* const a = static_cast<const OF*>(arguments->buffers[0]);
  OF* const out = static_cast<OF*>(arguments->buffers[1]);
  i64* const counters = static_cast<i64*>(arguments->buffers[2]);
  const Value v = load<LANES>(a);
  store(out, maximum(from_lane_above(v, 3), maximum(from_lane_across(v, 5), from_lane(v, 0))));
  const auto mask = from_lane_above(first_lanes<LANES>(n), 1);
  if (any_lane(mask)) store(out, v);
  if (arrives_last(counters, n)) store(out, v);
  if (block_arrives_last(reinterpret_cast<i32*>(counters + 1), n)) store(out, load<LANES>(a));
}
extern "C" __global__ void sorts(const i64* keys, i64* order, i64* starts, i64 n, i64 bound,
                                 FailureRecord* failure, SortStep step) {
  const StableSort<true> stable_sort{step, failure};
  stable_sort(order, starts, n, bound, [&](i64 p, auto) { return keys[p]; });
  stable_sort(order, starts, n, bound, n, [&](i64 p, auto) { return keys[p]; });
  const StableOrder<32, OrderTasks::either> order_of{step, failure};
  order_of(order, nullptr, n, bound, 1, [&](i64 p, auto) { return keys[p]; });
  const StableOrder<16, OrderTasks::rows> short_order_of{step, failure};
  short_order_of(order, nullptr, n, bound, n, [&](i64 p, auto) { return keys[p]; },
                 [&](i64 row, i64 p, i64 element, auto) { starts[row * n + p] = element; });
}
#if LANES == 2
#define EACH v[0], v[1]
#elif LANES == 4
#define EACH v[0], v[1], v[2], v[3]
#elif LANES == 8
#define EACH v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
#elif LANES == 16
#define EACH v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]
#endif
#ifdef EACH
extern "C" __global__ void packed(const OF* a, OF* out, bool active) {
  OF v[LANES];
  load_packed(a, EACH);
  store_packed(out, EACH);
  load_packed_if(a + LANES, active, OF(1), EACH);
  store_packed(out + LANES, EACH);
}
#endif
}
)";

struct Shape {
  const char* of;
  int lanes;
};

class Routines : public ::testing::TestWithParam<Shape> {};

TEST_P(Routines, CompileWithoutAWarning) {
  TWINLOOM_NEEDS_NVRTC();
  const NvrtcOptions options{"sm_90a", {cat("-DOF=", GetParam().of), cat("-DLANES=", GetParam().lanes)}};
  EXPECT_EQ(nvrtc().compile(KERNEL, "routines", all_headers(), options).log, "");
  const std::string needed = needed_headers(cat(KERNEL, GetParam().of));
  EXPECT_EQ(nvrtc().compile(KERNEL, "routines", {{ENTRY_HEADER, needed}}, options).log, "");
}

INSTANTIATE_TEST_SUITE_P(Cuda, Routines,
                         ::testing::Values(Shape{"f32", 1}, Shape{"f32", 4}, Shape{"u8", 2}, Shape{"u16", 8},
                                           Shape{"i64", 2}, Shape{"i8", 1}, Shape{"f64", 4}, Shape{"u8", 16},
                                           Shape{"u16", 16}),
                         [](const auto& row) { return cat(row.param.of, "_x", row.param.lanes); });

std::string ptx_of(const std::string& body, const std::vector<std::string>& flags = {}) {
  const std::string text = cat("#include \"cuda/routines.h\"\nnamespace twinloom::device {\n", body, "}\n");
  return nvrtc().compile(text, "kernel", all_headers(), {"compute_90a", flags}).bytes;
}
bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Of an address that is known to be a multiple of 16 one instruction is left, without a test.
TEST(Memory, PackedAccessesNeedNoTestWhereAlignmentIsKnown) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string copy = "  store_streaming(out + 4 * threadIdx.x, load<4>(a + 4 * threadIdx.x));\n}\n";
  const std::string head = "extern \"C\" __global__ void kernel(const f32* a, f32* out) {\n";
  const std::string known =
      "  __builtin_assume((u64(a) & 15) == 0);\n  __builtin_assume((u64(out) & 15) == 0);\n";
  const std::string plain = ptx_of(cat(head, copy)), aligned = ptx_of(cat(head, known, copy));
  EXPECT_TRUE(has(plain, "ld.global.v4") && has(plain, "bra")) << plain;
  EXPECT_TRUE(has(aligned, "ld.global.v4") && has(aligned, "st.global.cs.v4") && !has(aligned, "bra"))
      << aligned;
}

// NVRTC folds these into others, of other bits (see arithmetic.h); tests/streams looks at the results.
TEST(Arithmetic, FoldsThatChangeBitsAreHiddenFromTheCompiler) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string zero = ptx_of(
      "extern \"C\" __global__ void kernel(const f32* a, f32* out) {\n  const f32 x = *a;\n"
      "  out[0] = where(lt(x, 0.0f), x, 0.0f);\n  out[1] = where(gt(x, -0.0f), x, -0.0f);\n}\n");
  EXPECT_FALSE(has(zero, "min.f32") || has(zero, "max.f32")) << zero;
  for (const char* of : {"i8", "i16", "i32"}) {
    const std::string negated =
        ptx_of(cat("extern \"C\" __global__ void kernel(const ", of, "* a, ", of, "* out) {\n",
                   "  out[0] = max(max(neg(a[0]), mul(a[1], ", of, "(-1))), sub(", of, "(0), a[2]));\n",
                   "  out[1] = minimum(minimum(a[3], a[4]), a[5]);\n}\n"));
    EXPECT_FALSE(has(negated, "max.s") || has(negated, "min.s")) << negated;
  }
  const std::string truth = ptx_of(
      "extern \"C\" __global__ void kernel(const i64* a, f32* out) {\n"
      "  out[0] = neg(convert<f32>(logical_xor(a[0], a[1])));\n}\n");
  EXPECT_FALSE(has(truth, "cvt.rn.f32")) << truth;
}

// Knowing the counter's range NVRTC would compute in 8 or 16 bits, and lose a sign (see short_mod).
TEST(Memory, TheRemainderOfACounterHas32Bits) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string ptx = ptx_of(
      "extern \"C\" __global__ void kernel(const i32* __restrict__ a, i32* __restrict__ out) {\n"
      "  for (i64 k = 0; k < 13; ++k)\n"
      "    store(out + 4 * k, load_strided<4>(a + 7 * short_mod(k + 2, 13) - threadIdx.x, -1));\n}\n");
  EXPECT_FALSE(has(ptx, "mul.wide.u16") || has(ptx, "mul.lo.s16")) << ptx;
}

// The check of an index of no operator is none.
TEST(Indices, OfTwinloomsOwnAreNotChecked) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string body =
      "extern \"C\" __global__ void kernel(const f32* a, const i64* at, f32* out, FailureRecord* failure) {\n"
      "  const Found<1> found = find<1>(at[threadIdx.x], true, 100, false, -1, {0, 0}, failure);\n"
      "  if (found.ok) out[threadIdx.x] = a[found.place];\n"
      "}\n";
  const std::string trusted = ptx_of(body);
  EXPECT_TRUE(!has(trusted, "exch") && has(trusted, "ld.global")) << trusted;
}

// What perf/gpu_index_cost.cpp measures: without its check an index is an offset and no more.
TEST(Indices, AreCheckedUnlessTheyAreTrusted) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string body =
      "extern \"C\" __global__ void kernel(const f32* a, const i64* at, f32* out, FailureRecord* failure) {\n"
      "  const Found<1> found = find<1>(at[threadIdx.x], true, 100, false, 7, {0, 0}, failure);\n"
      "  if (found.ok) out[threadIdx.x] = a[found.place];\n"
      "}\n";
  const std::string checked = ptx_of(body), trusted = ptx_of(body, {"-DTWINLOOM_TRUST_INDICES"});
  EXPECT_TRUE(has(checked, "atom.global.exch") || has(checked, "atom.exch")) << checked;
  EXPECT_TRUE(!has(trusted, "exch") && !has(trusted, "setp") && has(trusted, "ld.global")) << trusted;
}

}  // namespace
}  // namespace twinloom::cuda
