// Rows with places that only the run knows, looked up by several of their loops, and with numbers that are
// drawn. See nests.h.
#include "tests/schedule/nests.h"

namespace twinloom::tests {

namespace {

const std::vector<NestCase> cases = {
    {"softmax_with_found_bias",
     R"(program softmax_with_found_bias(x: bf16[m*300], p: i64[300], b: bf16[4*64], y: written bf16[m*300]; m in 0..) {
  for i < m {
    start t0: max f32
    for k < 300 {
      index f0 = bitwise_and(p[k], 63:i64) below 64 wraps node 1
      t0 += add(f32(x[i*300 + k]), f32(b[f0])) at k
    }
    start t1: sum f32
    for k1 < 300 {
      index f1 = bitwise_and(p[k1], 63:i64) below 64 wraps node 1
      t1 += exp(sub(add(f32(x[i*300 + k1]), f32(b[f1])), t0)) at k1
    }
    for k2 < 300 {
      index f2 = bitwise_and(p[k2], 63:i64) below 64 wraps node 1
      y[i*300 + k2] = bf16(div(exp(sub(add(f32(x[i*300 + k2]), f32(b[f2])), t0)), t1))
    }
  }
})",
     {{0}, {1}, {5}},
     {"schedule split 0 k : 64, 16 mask split 1 k1 : 256, 64, 8 mask split 2 k2 : 8 remainder loop -1 i.0 "
      "serial "
      "loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 vector loop 1 k1.0 serial loop 1 k1.1 unroll loop 1 "
      "k1.2 "
      "unroll loop 1 k1.3 vector loop 2 k2.0 serial loop 2 k2.1 vector values 2 registers"}},
    {"lookups_that_differ",
     R"(program lookups_that_differ(x: f32[m*90], p: i64[90], b: f32[128], y: written f32[m*90]; m in 0..) {
  for i < m {
    start t0: sum f32
    for k < 90 {
      index f0 = bitwise_and(p[k], 63:i64) below 64 node 1
      t0 += exp(mul(x[i*90 + k], b[f0])) at k
    }
    for k1 < 90 {
      index f1 = bitwise_and(p[k1], 31:i64) below 64 node 1
      index f2 = bitwise_and(p[k1], 63:i64) below 64 node 1
      y[i*90 + k1] = add(add(exp(mul(x[i*90 + k1], b[f1])), b[f2 + 1]), mul(exp(mul(x[i*90 + k1], b[f2])), t0))
    }
  }
})",
     {{0}, {1}, {4}},
     {}},
    {"dropout_drawn_three_times",
     R"(program dropout(x: f32[m*200], y: written f32[m*200], z: written b8[m*200]; m in 0.., seed in 0..) {
  for i < m {
    for k < 200 { z[i*200 + k] = gt(random_uniform(count(i*200 + k), count(seed), count(5), 0:i64), 0x1p-3:f32) }
    start t0: sum f32
    for k1 < 200 {
      t1 = f32(gt(random_uniform(count(i*200 + k1), count(seed), count(5), 0:i64), 0x1p-3:f32))
      t0 += mul(t1, x[i*200 + k1]) at k1
    }
    for k2 < 200 {
      t2 = f32(gt(random_uniform(count(i*200 + k2), count(seed), count(5), 0:i64), 0x1p-3:f32))
      y[i*200 + k2] = div(mul(t2, x[i*200 + k2]), t0)
    }
  }
})",
     {{0, 7}, {1, 7}, {4, 9}},
     {"schedule split 0 k : 8 mask split 1 k1 : 256, 64, 8 mask split 2 k2 : 8 mask loop -1 i.0 serial loop "
      "0 k.0 "
      "serial loop 0 k.1 vector loop 1 k1.0 serial loop 1 k1.1 unroll loop 1 k1.2 unroll loop 1 k1.3 vector "
      "loop 2 "
      "k2.0 serial loop 2 k2.1 vector values 1 registers"}},
    {"histograms_of_rows",
     R"(program histograms_of_rows(k: i64[m*3000], x: i32[m*3000], y: written i32[m*64]; m in 0..) {
  for i < m {
    for j < 3000 {
      index f0 = bitwise_and(k[3000*i + j], 63:i64) below 64 node 1
      y[64*i + f0] atomic_add x[3000*i + j]
    }
  }
})",
     {{0}, {1}, {3}},
     {"schedule split j 1024, 256, 4 mask cache y at j.0 in scratch filled by u split u 32 mask bind i block "
      "bind j.0 block bind j.2 thread bind j.3 vector bind u.1 thread"}},
};

}  // namespace

std::vector<NestCase> nests_with_lookups() { return cases; }

}  // namespace twinloom::tests
