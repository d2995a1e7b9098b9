// Nests whose sizes have bounds, so that threads, vectors and kept rows may walk axes that are no constants.
// See nests.h.
#include "tests/schedule/nests.h"

namespace twinloom::tests {

namespace {

const std::vector<NestCase> cases = {
    {"rows_below_a_bound",
     R"(program rows_below_a_bound(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..4096 % 4) {
  for i < m {
    start t0: max f32
    for k < n { t0 += x[i*n + k] at k }
    start t1: sum f32
    for k1 < n { t1 += exp(sub(x[i*n + k1], t0)) at k1 }
    for k2 < n { y[i*n + k2] = div(exp(sub(x[i*n + k2], t0)), t1) }
  }
})",
     {{2, 0},
      {3, 4},
      {1, 252},
      {2, 256},
      {1, 1020},
      {2, 1024},
      {3, 1028},
      {1, 2052},
      {2, 3072},
      {1, 4092},
      {2, 4096}},
     {"schedule values 1 registers stage x inside i.0 registers pad 0 split 0 k : 1024, 256, 128, 4 mask "
      "split 1 k1 : 1024, 256, 128, 4 mask split 2 k2 : 1024, 256, 128, 4 mask loop -1 i.0 block loop 0 "
      "k.0 "
      "thread loop 0 k.1 unroll loop 0 k.2 unroll loop 0 k.3 thread loop 0 k.4 vector loop 1 k1.0 thread "
      "loop "
      "1 k1.1 unroll loop 1 k1.2 unroll loop 1 k1.3 thread loop 1 k1.4 vector loop 2 k2.0 thread loop 2 "
      "k2.1 "
      "unroll loop 2 k2.2 unroll loop 2 k2.3 thread loop 2 k2.4 vector",
      "schedule stage x inside i.1 scratch pad 0 split -1 i : 2 mask split 0 k : 1024, 256, 128, 4 mask "
      "split "
      "1 k1 : 1024, 256, 128, 4 mask split 2 k2 : 1024, 256, 128, 4 mask loop -1 i.0 block loop -1 i.1 "
      "thread "
      "loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 thread loop 0 k.4 vector loop 1 "
      "k1.0 "
      "serial loop 1 k1.1 serial loop 1 k1.2 unroll loop 1 k1.3 thread loop 1 k1.4 vector loop 2 k2.0 "
      "serial "
      "loop 2 k2.1 serial loop 2 k2.2 unroll loop 2 k2.3 thread loop 2 k2.4 vector",
      "schedule values 1 registers stage x inside i.0 registers pad 0 split 0 k : 16 remainder split 1 k1 "
      ": "
      "1024, 256, 32, 8 mask split 2 k2 : 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
      "vector "
      "loop 1 k1.0 serial loop 1 k1.1 serial loop 1 k1.2 unroll loop 1 k1.3 serial loop 1 k1.4 vector loop "
      "2 "
      "k2.0 serial loop 2 k2.1 vector"}},
    {"units_written_out_below_a_bound",
     R"(program units_below_a_bound(x: f64[n], y: written f64[1]; n in 0..4096) {
  start t0: sum f64
  for k < n { t0 += x[k] at k }
  y[0] = t0
})",
     each({0, 1, 1023, 1024, 1025, 2048, 2049, 3071, 3073, 4095}),
     {"schedule split 0 k : 1024, 256, 8 mask loop 0 k.0 unroll loop 0 k.1 serial loop 0 k.2 unroll loop 0 "
      "k.3 vector",
      "schedule split 0 k : 2048, 1024, 256, 8 mask loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 serial "
      "loop 0 k.3 unroll loop 0 k.4 vector"}},
    {"short_rows_below_a_bound",
     R"(program short_rows_below_a_bound(x: f32[m*n], y: written f32[m], z: written f32[m]; m in 0..6, n in 0..60) {
  for i < m {
    start t0: max f32
    start t1: sum f32
    for k < n { t0 += x[i*n + k] at k t1 += x[i*n + k] at k }
    y[i] = t0
    z[i] = t1
  }
})",
     {{0, 9}, {1, 0}, {1, 1}, {2, 7}, {3, 8}, {6, 33}, {5, 60}},
     {"schedule split -1 i : 2 mask split 0 k : 16 mask loop -1 i.0 thread loop -1 i.1 serial loop 0 k.0 "
      "serial "
      "loop 0 k.1 thread",
      "schedule split 0 k : 4 mask loop -1 i.0 block loop 0 k.1 vector loop 0 k.0 unroll"}},
    {"column_sum_below_a_bound",
     R"(program column_sum_below_a_bound(x: f32[m*n], y: written f32[n]; m in 0..3000, n in 1..16 % 2) {
  for j < n { start t0: sum f32 for k < m { t0 += x[k*n + j] at k } y[j] = t0 }
})",
     {{0, 2}, {1, 4}, {7, 16}, {1023, 2}, {1025, 6}, {2048, 4}, {3000, 2}},
     {"schedule grid k units 1 threads 4 split -1 j : 2 mask split 0 k : 1024, 256, 16 remainder loop -1 "
      "j.0 "
      "thread loop -1 j.1 serial loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule grid k units 2 split -1 j : 2 mask split 0 k : 1024, 256, 16 mask loop -1 j.0 thread loop "
      "-1 "
      "j.1 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll"}},
};

}  // namespace

std::vector<NestCase> nests_below_bounds() { return cases; }

}  // namespace twinloom::tests
