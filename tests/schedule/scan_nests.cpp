// Nests with scans. See nests.h.
#include "tests/schedule/nests.h"

namespace twinloom::tests {

namespace {

// Of rows of a constant length: a vector of rows, several of them, tasks of them; the rows of a chunk.
const std::vector<std::string_view> BY_SQUARES = {
    "schedule transposed_rows split -1 i : 8 remainder split 0 k : 1024, 32 clip loop -1 i.0 serial loop "
    "-1 i.1 "
    "vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
    "schedule transposed_rows split -1 i : 32 remainder split 0 k : 1024, 32 clip loop -1 i.0 serial loop "
    "-1 i.1 "
    "vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
    "schedule transposed_rows split -1 i : 32, 16 remainder split 0 k : 1024, 32 clip loop -1 i.0 block "
    "loop -1 "
    "i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
    "schedule transposed_rows split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 "
    "serial "
    "loop 0 k.1 vector"};

const Lists lengths = rows_of(
    {0, 1, 7, 8, 9, 31, 100, 255, 256, 257, 600, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3075, 4097});
const Lists short_rows = rows_of({1, 7, 8, 9, 31, 100, 255, 256, 257, 600, 1023, 1024, 1025, 2049, 4097});
const std::vector<NestCase> cases = {
    {"cumsum",
     R"(program cumsum(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { scan t1 = t0 (x[i*n + k]) at k y[i*n + k] = t1 } }
})",
     lengths,
     {"schedule split 0 k : 1024, 32 clip loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 "
      "serial",
      "schedule split 0 k : 1024, 32 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial loop 0 "
      "k.2 "
      "unroll",
      "schedule split 0 k : 1024, 32 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 serial loop 0 "
      "k.1 "
      "vector",
      "schedule split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 "
      "vector",
      "schedule transposed_rows split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 "
      "serial "
      "loop 0 k.1 vector",
      "schedule transposed_rows split 0 k : 1024, 32 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 "
      "serial "
      "loop 0 k.1 vector",
      "schedule split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 "
      "serial",
      "schedule split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop "
      "0 "
      "k.2 thread loop 0 k.3 serial",
      "schedule split 0 k : 4096, 1024, 32 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread "
      "loop "
      "0 k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 1 carries 1 split 0 k : 1024, 32 clip loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split_scan k chunks 3 carries 4 split 0 k : 1024, 32 clip loop -1 i.0 serial loop 0 k.0 "
      "serial "
      "loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split_scan k chunks 2 carries 2 split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.2 serial loop 0 k.1 vector",
      "schedule split_scan k chunks 1 carries 1 split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 thread loop 0 k.2 serial",
      "schedule split_scan k chunks 2 carries 2 split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 4 carries 64 split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial",
      "schedule split 0 k : 32 mask loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 serial",
      "schedule split -1 i : 4 mask split 0 k : 32 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread "
      "loop 0 k.1 serial",
      "schedule split -1 i : 2 mask split 0 k : 32, 4 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread loop 0 k.1 serial loop 0 k.2 vector",
      "schedule split -1 i : 2 mask split 0 k : 32, 16 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread loop 0 k.1 serial loop 0 k.2 vector",
      "schedule split 0 k : 32, 8 exact loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 serial loop 0 k.2 "
      "vector",
      "schedule split -1 i : 2 mask split 0 k : 2048, 1024, 32, 4 mask loop -1 i.0 block loop -1 i.1 thread "
      "loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial loop 0 k.4 vector",
      "schedule split 0 k : 1024, 32, 8 exact loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 "
      "k.2 "
      "serial loop 0 k.3 vector",
      "schedule split_scan k chunks 2 carries 4 split 0 k : 2048, 1024, 32, 2 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial loop 0 k.4 vector"}},
    {"flat_cumsum",
     R"(program flat_cumsum(x: bf16[n], y: written bf16[n]; n in 0..) {
  start t0: sum f32 for k < n { scan t1 = t0 (mul(f32(x[k]), f32(x[k]))) at k y[k] = bf16(t1) }
})",
     each({0, 1, 1023, 1024, 1025, 4097, 9000}),
     {"schedule split_scan k chunks 2 carries 4 split 0 k : 2048, 1024, 32 mask loop 0 k.0 serial loop 0 "
      "k.1 "
      "thread loop 0 k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 1 carries 1 split 0 k : 1024, 32 clip loop 0 k.0 serial loop 0 k.1 "
      "serial "
      "loop 0 k.2 serial"}},
    {"two_scans",
     R"(program two_scans(x: f32[m*n], y: written f32[m*n], z: written i64[m*n]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 start t1: argmax_last f32 for k < n {
    t2 = exp(x[i*n + k])
    scan t3 = t0 (t2) at k exclusive
    scan t4 = t1 (x[i*n + k], count(k)) at k
    t5 = mul(x[i*n + n - 1 - k], t3)
    y[i*n + k] = add(t5, t2) z[i*n + k] = t4.1 } }
})",
     short_rows,
     {"schedule split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 "
      "vector",
      "schedule transposed_rows split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 "
      "serial "
      "loop 0 k.1 vector",
      "schedule split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop "
      "0 "
      "k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 2 carries 2 split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 1 carries 2 split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.2 serial loop 0 k.1 vector",
      "schedule split_scan k chunks 2 carries 1 split 0 k : 1024, 32 clip loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split -1 i : 2 mask split 0 k : 32, 8 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread loop 0 k.1 serial loop 0 k.2 vector",
      "schedule split 0 k : 1024, 32, 4 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 "
      "k.2 "
      "serial loop 0 k.3 vector"}},
    {"scanned_rows_of_64",
     R"(program scanned_rows_of_64(x: f32[64*m], y: written f32[64*m]; m in 0..) {
  for i < m { start t0: sum f32 for k < 64 { scan t1 = t0 (x[64*i + k]) at k y[64*i + k] = t1 } }
})",
     each({0, 1, 8, 9, 33, 64}), BY_SQUARES},
    {"scanned_rows_of_20",
     R"(program scanned_rows_of_20(x: bf16[20*m], y: written bf16[20*m]; m in 0..) {
  for i < m { start t0: sum f32 for k < 20 { scan t1 = t0 (f32(x[20*i + k])) at k y[20*i + k] = bf16(t1) } }
})",
     each({0, 1, 8, 9, 33, 64}), BY_SQUARES},
    {"scanned_rows_of_96",
     R"(program scanned_rows_of_96(x: f64[96*m], y: written f64[96*m]; m in 0..) {
  for i < m { start t0: sum f64 for k < 96 { scan t1 = t0 (x[96*i + k]) at k y[96*i + k] = t1 } }
})",
     each({0, 1, 8, 9, 33, 64}), BY_SQUARES},
    {"outer_cumsum_exclusive",
     R"(program outer_cumsum(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { scan t1 = t0 (x[k*m + i]) at k exclusive y[k*m + i] = t1 } }
})",
     {{9, 0}, {3, 1}, {9, 33}, {8, 1025}, {2, 2100}},
     {"schedule split -1 i : 8 remainder split 0 k : 1024, 32 clip loop -1 i.0 serial loop -1 i.1 vector "
      "loop 0 k.0 serial "
      "loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split_scan k chunks 1 carries 4 split -1 i : 8 remainder split 0 k : 1024, 32 clip loop -1 "
      "i.0 "
      "serial loop -1 i.1 vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split_scan k chunks 1 carries 2 split -1 i : 4 mask split 0 k : 1024, 32 clip loop -1 i.0 "
      "block loop -1 i.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split -1 i : 4 mask split 0 k : 1024, 32 mask loop -1 i.0 block loop -1 i.1 thread loop 0 "
      "k.0 "
      "serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split_scan k chunks 1 carries 2 split -1 i : 4 mask split 0 k : 1024, 32 mask loop -1 i.0 "
      "block loop -1 i.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split -1 i : 4 mask split 0 k : 1024, 32 mask loop -1 i.0 block loop -1 i.1 vector loop "
      "0 "
      "k.0 serial loop 0 k.1 unroll loop 0 k.2 serial"}},
    {"cumsum_of_rows_that_are_found",
     R"(program found(x: f32[9*n], p: i64[m], s: f32[m], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { index a = p[i] below 9 wraps t2 = s[i] start t0: sum f32
    for k < n { scan t1 = t0 (mul(x[a*n + k], t2)) at k y[i*n + k] = t1 } }
})",
     {{3, 5}, {1, 1030}, {2, 2049}},
     {"schedule split_scan k chunks 1 carries 2 split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 thread loop 0 k.2 serial"}},
    {"backwards_cumprod",
     R"(program backwards_cumprod(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { start t0: prod f32 for k < n { scan t1 = t0 (x[i*n + n - 1 - k]) at k y[i*n + n - 1 - k] = t1 } }
})",
     short_rows,
     {"schedule split 0 k : 1024, 32 mask loop -1 i.0 serial loop 0 k.0 serial loop 0 k.2 serial loop 0 "
      "k.1 "
      "vector",
      "schedule split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop "
      "0 "
      "k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 1 carries 4 split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 thread loop 0 k.2 serial",
      "schedule split -1 i : 2 mask split 0 k : 32 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread "
      "loop 0 k.1 serial"}},
    {"cummax",
     R"(program cummax(x: f32[m*n], y: written f32[m*n], z: written i64[m*n]; m in 0.., n in 0..) {
  for i < m { start t0: argmax_last f32 for k < n {
    scan t1 = t0 (x[i*n + k], count(k)) at k y[i*n + k] = t1 z[i*n + k] = t1.1 } }
})",
     short_rows,
     {"schedule split 0 k : 4096, 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop "
      "0 "
      "k.2 thread loop 0 k.3 serial",
      "schedule split 0 k : 1024, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 "
      "serial",
      "schedule split_scan k chunks 2 carries 2 split 0 k : 2048, 1024, 32 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 thread loop 0 k.3 serial",
      "schedule split_scan k chunks 1 carries 1 split 0 k : 1024, 32 clip loop -1 i.0 block loop 0 k.0 "
      "serial "
      "loop 0 k.1 serial loop 0 k.2 serial",
      "schedule split -1 i : 2 mask split 0 k : 32, 4 mask loop -1 i.0 block loop -1 i.1 thread loop 0 k.0 "
      "thread loop 0 k.1 serial loop 0 k.2 vector"}},
};

}  // namespace

std::vector<NestCase> scan_nests() { return cases; }

}  // namespace twinloom::tests
