// See nests.h.
#include "tests/schedule/nests.h"

namespace twinloom::tests {

Lists each(std::initializer_list<std::int64_t> sizes) {
  Lists result;
  for (const std::int64_t size : sizes) result.push_back({size});
  return result;
}

Lists rows_of(std::initializer_list<std::int64_t> sizes) {
  Lists result;
  std::int64_t rows = 1;
  for (const std::int64_t size : sizes) result.push_back({rows = rows % 3 + 1, size});
  return result;
}

namespace {

const Lists lengths =
    each({0, 1, 7, 8, 9, 31, 255, 256, 257, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 4097});
const Lists reductions = rows_of(
    {0, 1, 7, 8, 9, 31, 100, 255, 256, 257, 600, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3075, 4097});
const Lists short_rows = rows_of({1, 7, 8, 9, 31, 100, 255, 256, 257, 600, 1023, 1024, 1025, 2049, 4097});

const std::vector<NestCase> cases = {
    {"add",
     R"(program add(x: f32[n], z: f32[n], y: written f32[n]; n in 0..) {
  for i < n { y[i] = add(x[i], z[i]) }
})",
     lengths,
     {"schedule loop -1 i.0 serial", "schedule loop -1 i.0 block",
      "schedule split -1 i : 256, 8 remainder loop -1 i.0 block loop -1 i.1 serial loop -1 i.2 vector",
      "schedule split -1 i : 256, 8 mask loop -1 i.0 block loop -1 i.1 serial loop -1 i.2 vector",
      "schedule split -1 i : 256, 64, 16 remainder loop -1 i.0 block loop -1 i.1 serial loop -1 i.2 unroll "
      "loop -1 i.3 vector",
      "schedule split -1 i : 100 clip loop -1 i.0 block loop -1 i.1 serial",
      "schedule split -1 i : 8 exact loop -1 i.0 block loop -1 i.1 vector"}},
    {"broadcast",
     R"(program broadcast(x: f32[m*n], b: f32[n], s: f32[m], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { for j < n { y[i*n + j] = mul(add(x[i*n + j], b[j]), s[i]) } }
})",
     {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {7, 8}, {5, 33}, {2, 257}, {40, 3}},
     {"schedule loop -1 j.0 block loop -1 i.0 serial",
      "schedule fuse i, j as r split -1 r : 64, 8 remainder loop -1 r.0 block loop -1 r.1 serial "
      "loop -1 r.2 vector",
      "schedule split -1 i : 4 clip split -1 j : 16, 8 remainder loop -1 i.0 block loop -1 j.0 block loop "
      "-1 i.1 serial loop -1 j.1 serial loop -1 j.2 vector"}},
    {"same_shape",
     R"(program same_shape(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { for j < n { y[i*n + j] = exp(x[i*n + j]) } }
})",
     {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {7, 8}, {5, 33}, {2, 257}},
     {"schedule fuse i, j as r split -1 r : 64, 8 mask loop -1 r.0 block loop -1 r.1 serial loop -1 "
      "r.2 vector"}},
    {"rows_and_columns",
     R"(program both(x: f32[m*33], y: written f32[m], z: written f32[33]; m in 0..) {
  start t1: sum f32 copies (k)
  for i < m {
    start t0: sum f32
    for k < 33 { t2 = x[i*33 + k] t0 += t2 at k t1 += exp(t2) at i }
    y[i] = t0
  }
  for k < 33 { z[k] = t1 }
})",
     each({0, 1, 255, 257, 1025, 2049}),
     {"schedule columns lanes 8 registers width 1 units 1 split 0 k : 8 mask loop -1 i.0 block "
      "loop 0 k.0 serial loop 0 k.1 vector",
      "schedule columns lanes 1 registers width 1 units 1 split 0 k : 8 mask loop -1 i.0 block "
      "loop 0 k.0 unroll loop 0 k.1 vector",
      "schedule columns lanes 256 registers width 16 units 1 split 0 k : 2 mask loop -1 i.0 block "
      "loop 0 k.0 thread loop 0 k.1 vector",
      "schedule columns lanes 4 scratch width 16 units 4 split 0 k : 16, 2 mask loop -1 i.0 block "
      "loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 vector prefetch x in 0 ahead 3"}},
    {"columns_beside_rows_of_two_sizes",
     R"(program two(x: f32[m*70], w: f32[m*40], y: written f32[m], z: written f64[70]; m in 0..) {
  start t1: max f32 copies (k)
  for i < m {
    start t0: sum f32
    for j < 40 { t0 += w[i*40 + j] at j }
    for k < 70 { t1 += mul(x[i*70 + k], t0) at i }
    y[i] = t0
  }
  for k < 70 { z[k] = f64(t1) }
})",
     each({0, 1, 257, 1030}),
     {"schedule columns lanes 16 registers width 8 units 2 split 0 j : 8 mask split 1 k : 16, 4 remainder "
      "loop -1 i.0 block loop 0 j.0 serial loop 0 j.1 vector loop 1 k.0 serial loop 1 k.1 thread loop 1 k.2 "
      "vector"}},
    {"norm_backwards",
     R"(program norm(x: bf16[m*300], g: bf16[m*300], w: bf16[100], s: f32[m*3], d: written bf16[m*300],
  a: written bf16[100], b: written f32[100]; m in 0..) {
  start t8: sum f32 copies (k1)
  start t9: sum f32 copies (k1)
  for i < m { for j < 3 {
    t1 = s[i*3 + j]
    start t0: sum f32
    start t2: sum f32
    for k < 100 {
      t3 = mul(f32(g[i*300 + j*100 + k]), f32(w[k]))
      t0 += t3 at k
      t2 += mul(t3, sub(f32(x[i*300 + j*100 + k]), t1)) at k
    }
    for k1 < 100 {
      t5 = f32(g[i*300 + j*100 + k1])
      t6 = sub(f32(x[i*300 + j*100 + k1]), t1)
      d[i*300 + j*100 + k1] = bf16(sub(sub(mul(t5, f32(w[k1])), t0), mul(t6, t2)))
      t8 += mul(t5, t6) at i*3 + j
      t9 += t5 at i*3 + j
    }
  } }
  for k1 < 100 { a[k1] = bf16(t8) b[k1] = mul(t9, t9) }
})",
     each({0, 1, 86, 342}),
     {"schedule fuse i, j as r columns lanes 8 scratch width 32 units 2 split 0 k : 4, 2 mask "
      "split 1 k1 : 4, 2 mask loop -1 r.0 block loop 0 k.0 thread loop 0 k.1 unroll loop 0 k.2 vector "
      "loop 1 k1.0 thread loop 1 k1.1 unroll loop 1 k1.2 vector stage x inside r.0 registers pad 0 "
      "stage g inside r.0 registers pad 0 values 1 registers prefetch g in 1 ahead 1",
      "schedule fuse i, j as r columns lanes 2 registers width 1 units 1 split 0 k : 8 mask "
      "split 1 k1 : 32, 8 remainder loop -1 r.0 block loop 0 k.0 serial loop 0 k.1 vector "
      "loop 1 k1.0 serial loop 1 k1.1 serial loop 1 k1.2 vector"}},
    {"turned_rows_of_three_axes",
     R"(program turned(x: bf16[m*n*6], z: bf16[m*n*6], y: written bf16[m*n*6]; m in 0.., n in 0..) {
  for j < n { for h < 6 { for i < m {
    y[j*6*m + h*m + i] = bf16(add(f32(x[h*m*n + i*n + j]), f32(z[j*6*m + h*m + i]))) } } }
})",
     {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {16, 16}, {33, 40}, {65, 31}},
     {"schedule stage x inside j.1 registers pad 0 split -1 i : 64, 16 remainder split -1 j : 32 clip "
      "split -1 h : 4 mask loop -1 i.0 block loop -1 j.0 block loop -1 h.0 serial loop -1 h.1 serial "
      "loop -1 i.1 serial loop -1 j.1 serial loop -1 i.2 vector"}},
    {"padded_and_turned",
     R"(program p(x: f32[m*21], y: written f32[m*77]; m in 0..) { for c < m { for r < 77 { y[77*c + r] = (x[c + 3*m*floor_div(r, 11) + m*floor_mod(r, 11)] if floor_mod(r, 11) < 3 else 0x1p+0:f32) } } })",
     {{0}, {7}, {64}},
     {"schedule stage x inside task scratch pad 1 split -1 r : 16 mask split -1 c : 32 mask loop -1 c.0 "
      "block loop -1 r.0 block loop -1 c.1 thread loop -1 r.1 thread"}},
    {"transpose",
     R"(program transpose(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for j < n { for i < m { y[j*m + i] = x[i*n + j] } }
})",
     {{0, 3}, {3, 0}, {1, 1}, {3, 5}, {8, 8}, {33, 40}, {65, 31}},
     {"schedule stage x inside j.1 registers pad 0 split -1 i : 32, 8 remainder split -1 j : 16 clip "
      "loop -1 i.0 block loop -1 j.0 block loop -1 i.1 serial loop -1 j.1 serial loop -1 i.2 vector",
      "schedule stage x inside j.1 registers pad 0 split -1 i : 8 mask split -1 j : 20 clip "
      "loop -1 j.0 block loop -1 i.0 serial loop -1 j.1 serial loop -1 i.1 vector",
      "schedule split -1 i : 32, 8 remainder split -1 j : 16 clip loop -1 i.0 block loop -1 j.0 block loop "
      "-1 i.1 serial loop -1 j.1 serial loop -1 i.2 vector",
      "schedule split -1 i : 32, 8 remainder split -1 j : 16, 4 remainder loop -1 i.0 block loop -1 j.0 "
      "block loop -1 j.1 serial loop -1 i.1 serial loop -1 j.2 unroll loop -1 i.2 vector",
      "schedule stage x inside task scratch pad 1 split -1 i : 16, 4 mask split -1 j : 16, 8 mask loop -1 "
      "i.0 block loop -1 j.0 block loop -1 j.1 serial loop -1 j.2 thread loop -1 i.1 thread loop -1 i.2 "
      "vector",
      "schedule stage x inside task scratch pad 0 split -1 i : 8 mask split -1 j : 32 mask loop -1 j.0 block "
      "loop -1 i.0 block loop -1 j.1 thread loop -1 i.1 thread"}},
    {"strided_backwards",
     R"(program strided(x: f32[3*n], y: written f32[n]; n in 0..) {
  for i < n { y[i] = neg(x[2*n - 2*i]) }
})",
     lengths,
     {"schedule split -1 i : 8 remainder loop -1 i.0 serial loop -1 i.1 vector"}},
    {"padded",
     R"(program padded(x: f32[n], y: written f32[n + 5]; n in 0..) {
  for i < n + 5 { y[i] = (x[i - 2] if 1 < i && i < n + 2 else 0x1.8p+1:f32) }
})",
     lengths,
     {"schedule split -1 i : 16 remainder loop -1 i.0 serial loop -1 i.1 vector",
      "schedule split -1 i : 16 mask loop -1 i.0 block loop -1 i.1 vector"}},
    {"gather",
     R"(program gather(x: f32[10*n], p: i64[m], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { for j < n { index a = p[i] below 10 wraps  y[i*n + j] = x[a*n + j] } }
})",
     {{3, 5}, {4, 16}, {2, 65}},
     {"schedule split -1 j : 8 remainder loop -1 i.0 block loop -1 j.0 serial loop -1 j.1 vector",
      "schedule split -1 i : 8 mask loop -1 j.0 block loop -1 i.0 serial loop -1 i.1 vector"}},
    {"row_sum",
     R"(program row_sum(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 }
})",
     reductions,
     {"schedule split 0 k : 1024, 256, 32, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.3 "
      "unroll loop 0 k.4 vector loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split 0 k : 1024, 256, 16 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial loop "
      "0 k.2 unroll loop 0 k.3 vector",
      "schedule split 0 k : 4096, 1024, 256, 16 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial "
      "loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 vector",
      "schedule split 0 k : 4096, 1024, 256, 16 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
      "serial loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 vector",
      "schedule split 0 k : 1024, 256 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 "
      "serial",
      "schedule split 0 k : 1024, 256, 32, 8 remainder short 8, 64 loop -1 i.0 block loop 0 k.0 serial "
      "loop 0 k.3 unroll loop 0 k.4 vector loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split 0 k : 1024, 256, 16 remainder short 2, 16, 256 loop -1 i.0 block loop 0 k.0 serial "
      "loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 vector",
      "schedule split -1 i : 2 mask split 0 k : 1024, 256 remainder short 4, 32, 128, 256 loop -1 i.0 "
      "block loop -1 i.1 vector loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 serial",
      "schedule grid k units 1 split 0 k : 1024, 256, 16 remainder short 64 loop -1 i.0 block loop 0 k.0 "
      "serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 vector",
      "schedule split 0 k : 256, 8 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 "
      "vector",
      "schedule split 0 k : 32, 8 mask loop -1 i.0 block loop 0 k.1 serial loop 0 k.2 vector loop 0 k.0 "
      "unroll",
      "schedule split -1 i : 2 mask split 0 k : 1024, 256, 64 remainder loop -1 i.0 block loop -1 i.1 "
      "vector loop 0 k.0 serial loop 0 k.2 unroll loop 0 k.3 serial loop 0 k.1 serial",
      "schedule split -1 i : 2 mask split 0 k : 4096, 1024, 256, 128, 4 mask loop -1 i.0 block loop -1 i.1 "
      "thread loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread loop "
      "0 k.5 vector",
      "schedule split 0 k : 2048, 1024, 256, 32 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
      "thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread",
      "schedule split 0 k : 1024, 256, 32 mask loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 serial loop 0 "
      "k.2 unroll loop 0 k.3 thread"}},
    {"column_sum",
     R"(program column_sum(x: f32[n*m], y: written f32[m]; m in 0.., n in 0..) {
  for j < m { start t0: sum f32 for k < n { t0 += x[k*m + j] at k } y[j] = t0 }
})",
     {{3, 0}, {9, 1}, {17, 31}, {8, 255}, {16, 257}, {40, 1025}, {3, 2049}},
     {"schedule split -1 j : 16, 8 remainder split 0 k : 1024, 256, 64 remainder loop -1 j.0 block loop -1 "
      "j.1 serial loop "
      "-1 j.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule grid k units 1 split -1 j : 8, 2 mask split 0 k : 1024, 256, 16 mask loop -1 j.0 block loop "
      "-1 j.1 thread loop -1 j.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 "
      "unroll",
      "schedule grid k units 1 threads 4 split -1 j : 16 mask split 0 k : 1024, 256, 16 remainder loop -1 "
      "j.0 block loop -1 j.1 thread loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 "
      "unroll",
      "schedule grid k units 1 threads 8 split -1 j : 8 mask split 0 k : 1024, 256, 16 remainder loop -1 "
      "j.0 block loop -1 j.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.3 thread loop 0 k.2 vector "
      "outermost_fastest",
      "schedule split -1 j : 32 mask split 0 k : 1024, 256, 16 mask loop -1 j.0 block loop -1 j.1 thread "
      "loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.3 thread loop 0 k.2 vector outermost_fastest",
      "schedule grid k units 1 threads 8 split -1 j : 16, 2 mask split 0 k : 1024, 256, 64 remainder loop -1 "
      "j.0 block loop -1 j.1 thread loop -1 j.2 vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.3 thread "
      "loop 0 k.2 unroll outermost_fastest",
      "schedule split -1 j : 32, 4 mask split 0 k : 1024, 256, 4 mask loop -1 j.0 block loop -1 j.1 thread "
      "loop -1 j.2 vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.3 thread loop 0 k.2 unroll "
      "outermost_fastest"}},
    {"column_sum_with_stores",
     R"(program column_sum_with_stores(x: f32[(n + 101)*m], at: i64[n], z: written f32[n*m], y: written f32[m],
                              w: written f32[n*m]; m in 0.., n in 0..) {
  for j < m {
    start t0: sum f32
    for k < n {
      index a = abs(at[k]) below 101
      t1 = mul(x[a*m + j], x[k*m + j])
      z[k*m + j] = t1
      t0 += t1 at k
    }
    y[j] = t0
    for k2 < n { w[k2*m + j] = sub(z[k2*m + j], t0) }
  }
})",
     {{3, 0}, {9, 1}, {17, 31}, {8, 255}, {16, 257}, {40, 1025}, {3, 2049}},
     {"schedule grid k units 1 split -1 j : 16 mask split 0 k : 1024, 256, 16 mask loop -1 j.0 block loop "
      "-1 j.1 thread loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll loop 1 k2.0 "
      "serial",
      "schedule grid k units 1 threads 64 split 0 k : 2048, 1024, 256, 128, 4 mask split 1 k2 : 256, 4 "
      "mask loop -1 j.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial loop 0 k.3 unroll loop "
      "0 k.4 thread loop 0 k.5 vector loop 1 k2.0 serial loop 1 k2.1 thread loop 1 k2.2 vector"}},
    {"sums_of_looked_up",
     R"(program sums_of_looked_up(x: f32[10*m], at: i64[70*n], y: written f32[n*m]; n in 0.., m in 0..) {
  for i < n { for j < m { start t0: sum f32
    for k < 70 { index a = at[70*i + k] below 10 wraps t0 += x[m*a + j] at k } y[i*m + j] = t0 } }
})",
     {{9, 5}, {4, 64}, {3, 17}, {1, 0}},
     {"schedule split -1 j : 8 remainder split 0 k : 1024, 256, 16 remainder short 16, 64 loop -1 i.0 block "
      "loop -1 j.0 serial loop -1 j.1 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 "
      "k.2 "
      "unroll prefetch x in 0 ahead 16",
      "schedule split -1 j : 8 mask split 0 k : 1024, 256, 16 mask loop -1 i.0 block loop -1 j.0 serial loop "
      "-1 "
      "j.1 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll prefetch x in 0 "
      "ahead 1"}},
    {"sums_of_segments",
     R"(program sums_of_segments(x: f32[2800*m], at: i64[n], y: written f32[n*m]; n in 0.., m in 0..) {
  for i < n { for j < m {
    index a = mul(abs(at[i]), 14: i64) below 1401
    start t0: sum f32 for k < a { t0 += x[(a + k)*m + j] at k } y[i*m + j] = t0
  } }
})",
     {{9, 5}, {4, 64}, {3, 17}, {1, 0}},
     {"schedule split -1 j : 8 remainder split 0 k : 1024, 256, 16 remainder loop -1 i.0 block loop -1 j.0 "
      "serial loop -1 j.1 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split -1 j : 8 remainder split 0 k : 1024, 256, 16 remainder short 16, 64 loop -1 i.0 block "
      "loop -1 "
      "j.0 serial loop -1 j.1 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split 0 k : 1024, 256, 16, 4 remainder short 8, 32, 256 loop -1 i.0 block loop -1 j.0 "
      "serial loop 0 k.0 serial loop 0 k.3 serial loop 0 k.4 vector loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split 0 k : 1024, 256, 64, 2 remainder short 64, 128 loop -1 i.0 block loop -1 j.0 block "
      "loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 thread loop 0 k.4 vector",
      "schedule split -1 j : 4 mask split 0 k : 1024, 256, 16 remainder short 16, 64 loop -1 i.0 block loop "
      "-1 j.0 block loop -1 j.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 "
      "thread",
      "schedule split -1 j : 8 mask split 0 k : 1024, 256, 16 remainder loop -1 i.0 block loop -1 j.0 block "
      "loop -1 j.1 thread loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule split -1 j : 4 mask split 0 k : 1024, 256, 16 remainder loop -1 i.0 block loop -1 j.0 block "
      "loop -1 j.1 thread loop 0 k.0 serial loop 0 k.3 thread loop 0 k.1 serial loop 0 k.2 unroll"}},
    {"row_prod_f64",
     R"(program row_prod(x: f64[m*n], y: written f64[m]; m in 0.., n in 0..) {
  for i < m { start t0: prod f64 for k < n { t0 += x[i*n + k] at k } y[i] = t0 }
})",
     short_rows,
     {}},
    {"row_max",
     R"(program row_max(x: f32[m*n], y: written f32[m]; m in 0.., n in 1..) {
  for i < m { start t0: max f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 }
})",
     short_rows,
     {"schedule split 0 k : 32, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 "
      "vector",
      "schedule split 0 k : 32, 8 mask loop -1 i.0 block loop 0 k.1 serial loop 0 k.0 serial loop 0 k.2 "
      "vector",
      "schedule split 0 k : 24, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 "
      "vector",
      "schedule split 0 k : 4096, 1024, 256, 128, 4 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
      "thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread loop 0 k.5 vector"}},
    {"row_argmax",
     R"(program row_argmax(x: f32[m*n], y: written i64[m]; m in 0.., n in 1..) {
  for i < m { start t0: argmax f32 for k < n { t0 += abs(x[i*n + k]), count(k) at k } y[i] = t0.1 }
})",
     short_rows,
     {"schedule split 0 k : 32, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 "
      "vector",
      "schedule split 0 k : 2048, 1024, 256, 32 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread "
      "loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread"}},
    {"integer_sum",
     R"(program integer_sum(x: i64[a*b*c], y: written i64[b]; a in 0.., b in 0.., c in 0..) {
  for j < b { start t0: sum i64 for i < a { for k < c { t0 += x[(i*b + j)*c + k] at i*c + k } } y[j] = t0 }
})",
     {{2, 3, 4}, {0, 2, 3}, {3, 2, 9}, {2, 2, 65}},
     {"schedule split 0 k : 8 remainder loop -1 j.0 block loop 0 i.0 serial loop 0 k.0 serial loop 0 k.1 "
      "vector",
      "schedule split 0 k : 8 mask split 0 i : 2 remainder loop -1 j.0 block loop 0 i.0 serial loop 0 k.0 "
      "serial loop 0 i.1 unroll loop 0 k.1 vector"}},
    {"two_totals",
     R"(program two_totals(x: f32[m*n], y: written f32[m], z: written f32[m]; m in 0.., n in 1..) {
  for i < m {
    start t0: sum f32 start t1: max f32
    for k < n { t2 = abs(x[i*n + k]) t0 += t2 at k t1 += t2 at k }
    y[i] = t0 z[i] = t1
  }
})",
     short_rows,
     {"schedule split 0 k : 1024, 256, 64, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.3 "
      "serial loop 0 k.4 vector loop 0 k.1 unroll loop 0 k.2 unroll"}},
    {"channel_sum",
     R"(program channel_sum(x: f32[a*b*c], y: written f32[b]; a in 0.., b in 0.., c in 0..) {
  for j < b { start t0: sum f32 for i < a { for k < c { t0 += x[(i*b + j)*c + k] at i*c + k } } y[j] = t0 }
})",
     {{2, 3, 4}, {0, 2, 3}, {3, 2, 16}, {20, 2, 65}, {3, 1, 512}},
     {"schedule fuse i, k as e split 0 e : 1024, 256, 32, 8 remainder loop -1 j.0 block loop 0 e.0 serial "
      "loop 0 e.3 unroll loop 0 e.4 vector loop 0 e.1 serial loop 0 e.2 unroll"}},
    {"full_sum",
     R"(program full_sum(x: f32[n], y: written f32[1]; n in 0..) {
  start t0: sum f32 for k < n { t0 += mul(x[k], x[k]) at k } y[0] = t0
})",
     lengths,
     {"schedule grid k units 1 split 0 k : 1024, 256, 16 remainder loop 0 k.0 serial loop 0 k.1 serial "
      "loop 0 k.2 unroll loop 0 k.3 vector",
      "schedule grid k units 2 split 0 k : 1024, 256, 64, 8 mask loop 0 k.0 serial loop 0 k.3 serial loop "
      "0 k.4 vector loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule grid k units 2 threads 64 split 0 k : 2048, 1024, 256, 128, 4 mask loop 0 k.0 serial loop 0 "
      "k.1 thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread loop 0 k.5 vector"}},
    {"full_sum_long",
     R"(program full_sum_long(x: f32[n], y: written f32[1]; n in 0..) {
  start t0: sum f32 for k < n { t0 += x[k] at k } y[0] = t0
})",
     each({140000}),
     {}},
    {"whole_argmax",
     R"(program whole_argmax(x: f32[m*n], y: written i64[m]; m in 0.., n in 1..) {
  for i < m { start t0: argmax f32 for k < n { t0 += x[i*n + k], count(k) at k } y[i] = t0.1 }
})",
     {{1, 9}, {2, 1024}, {3, 1025}, {2, 5000}},
     {"schedule grid k units 1 split 0 k : 32, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
      "unroll loop 0 k.2 vector"}},
    {"half_norm",
     R"(program half_norm(x: bf16[m*n], g: f32[m*n], y: written bf16[m*n], z: written bf16[m*n],
                  w: written bf16[m*n]; m in 0.., n in 1..) {
  for i < m {
    start t0: sum f32
    for k < n { z[i*n + k] = x[i*n + k] t0 += mul(f32(x[i*n + k]), g[i*n + k]) at k }
    for k2 < n { w[i*n + k2] = x[i*n + k2] y[i*n + k2] = bf16(sub(mul(f32(x[i*n + k2]), t0), g[i*n + k2])) }
  }
})",
     short_rows,
     {"schedule split -1 i : 2 clip split 0 k : 1024, 256, 16 remainder split 1 k2 : 8 remainder loop -1 "
      "i.0 block loop -1 i.1 serial loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 "
      "vector loop 1 k2.0 serial loop 1 k2.1 vector stage x inside i.1 registers pad 0 stage g inside i.1 "
      "registers pad 0"}},
    {"values_used_twice",
     R"(program values_used_twice(x: bf16[m*70], w: f32[70], y: written f32[m*70], z: written f32[m*70]; m in 0..) {
  for i < m {
    start t0: sum f32
    for k < 70 {
      t1 = add(f32(x[i*70 + k]), w[k])
      z[i*70 + k] = t1
      t0 += mul(exp(t1), t1) at k
    }
    t3 = add(t0, 0x1p+0: f32)
    for k2 < 70 {
      t2 = add(f32(x[i*70 + k2]), w[k2])
      y[i*70 + k2] = div(add(exp(t2), t2), t3)
    }
  }
})",
     {{0}, {1}, {5}},
     {"schedule split 0 k : 64, 16 mask split 1 k2 : 8 remainder loop -1 i.0 serial loop 0 k.0 serial loop "
      "0 k.1 unroll loop 0 k.2 vector loop 1 k2.0 serial loop 1 k2.1 vector values 1 registers",
      "schedule split 0 k : 64, 16 mask split 1 k2 : 8 mask loop -1 i.0 serial loop 0 k.0 serial loop 0 k.1 "
      "unroll loop 0 k.2 vector loop 1 k2.0 serial loop 1 k2.1 vector values 2 registers"}},
    {"scaled_rows",
     R"(program scaled_rows(x: f32[m*33], w: bf16[33], b: f32[40], y: written f32[m*33]; m in 0..) {
  for i < m {
    start t0: max f32
    for k < 33 { t0 += mul(x[i*33 + k], f32(w[k])) at k }
    for k2 < 33 { y[i*33 + k2] = add(mul(sub(x[i*33 + k2], t0), f32(w[k2])), b[39 - k2]) }
  }
})",
     {{0}, {1}, {7}},
     {"schedule split -1 i : 4 clip split 0 k : 8 mask split 1 k2 : 16 remainder loop -1 i.0 block loop -1 "
      "i.1 serial loop 0 k.0 serial loop 0 k.1 vector loop 1 k2.0 serial loop 1 k2.1 vector stage w inside "
      "task registers pad 0 stage b inside task registers pad 0",
      "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k2.0 serial stage b inside task registers pad 0 "
      "stage w inside i.0 registers pad 0",
      "schedule split 0 k : 16, 4 mask split 1 k2 : 16, 4 mask loop -1 i.0 block loop 0 k.0 unroll loop 0 "
      "k.1 "
      "thread loop 0 k.2 vector loop 1 k2.0 unroll loop 1 k2.1 thread loop 1 k2.2 vector stage b inside i.0 "
      "registers pad 0 stage w inside i.0 registers pad 0 stage x inside i.0 registers pad 0"}},
    {"softmax",
     R"(program softmax(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 1..) {
  for i < m {
    start t0: max f32
    for k < n { t0 += x[i*n + k] at k }
    start t1: sum f32
    for k1 < n { t1 += exp(sub(x[i*n + k1], t0)) at k1 }
    for k2 < n { y[i*n + k2] = div(exp(sub(x[i*n + k2], t0)), t1) }
  }
})",
     short_rows,
     {"schedule split 0 k : 32, 8 remainder split 1 k1 : 1024, 256, 64, 8 remainder split 2 k2 : 8 remainder "
      "loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 k.2 vector "
      "loop 1 k1.0 serial loop 1 k1.3 serial loop 1 k1.4 vector loop 1 k1.1 serial loop 1 k1.2 unroll "
      "loop 2 k2.0 serial loop 2 k2.1 vector",
      "schedule stage x inside i.0 scratch pad 0 split 0 k : 2048, 1024, 256, 128, 4 mask split 1 k1 : 2048, "
      "1024, 256, 128, 4 mask split 2 k2 : 2048, 1024, 256, 128, 4 mask loop -1 i.0 block loop 0 k.0 serial "
      "loop 0 k.1 thread loop 0 k.2 serial loop 0 k.3 unroll loop 0 k.4 thread loop 0 k.5 vector loop 1 k1.0 "
      "serial loop 1 k1.1 thread loop 1 k1.2 serial loop 1 k1.3 unroll loop 1 k1.4 thread loop 1 k1.5 vector "
      "loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 serial loop 2 k2.3 unroll loop 2 k2.4 thread loop 2 "
      "k2.5 vector",
      "schedule stage x inside i.1 scratch pad 0 split -1 i : 4 mask split 0 k : 1024, 256, 128, 4 mask "
      "split 1 k1 : 1024, 256, 128, 4 mask split 2 k2 : 1024, 256, 128, 4 mask loop -1 i.0 block loop -1 "
      "i.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll loop 0 k.3 thread loop 0 k.4 "
      "vector loop 1 k1.0 serial loop 1 k1.1 serial loop 1 k1.2 unroll loop 1 k1.3 thread loop 1 k1.4 "
      "vector loop 2 k2.0 serial loop 2 k2.1 serial loop 2 k2.2 unroll loop 2 k2.3 thread loop 2 k2.4 "
      "vector",
      "schedule stage x inside i.0 registers pad 0 split 0 k : 2048, 1024, 256, 128, 4 mask split 1 k1 : "
      "2048, 1024, 256, 128, 4 mask split 2 k2 : 2048, 1024, 256, 128, 4 mask loop -1 i.0 block loop 0 k.0 "
      "serial loop 0 k.1 thread loop 0 k.2 unroll loop 0 k.3 unroll loop 0 k.4 thread loop 0 k.5 vector loop "
      "1 k1.0 serial loop 1 k1.1 thread loop 1 k1.2 unroll loop 1 k1.3 unroll loop 1 k1.4 thread loop 1 k1.5 "
      "vector loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 unroll loop 2 k2.3 unroll loop 2 k2.4 thread "
      "loop 2 k2.5 vector",
      "schedule values 1 registers stage x inside i.0 registers pad 0 split 0 k : 65536, 1024, 256, 128, 4 "
      "mask split 1 k1 : 65536, 1024, 256, 128, 4 mask split 2 k2 : 65536, 1024, 256, 128, 4 mask loop -1 "
      "i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 unroll loop 0 k.3 unroll loop 0 k.4 thread "
      "loop 0 k.5 vector loop 1 k1.0 serial loop 1 k1.1 thread loop 1 k1.2 unroll loop 1 k1.3 unroll loop "
      "1 k1.4 thread loop 1 k1.5 vector loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 unroll loop 2 "
      "k2.3 unroll loop 2 k2.4 thread loop 2 k2.5 vector",
      "schedule values 1 registers stage x inside i.0 registers pad 0 split 0 k : 2048, 1024, 256, 128, 4 "
      "mask split 1 k1 : 2048, 1024, 256, 128, 4 mask split 2 k2 : 2048, 1024, 256, 128, 4 mask loop -1 "
      "i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 unroll loop 0 k.3 unroll loop 0 k.4 thread "
      "loop 0 k.5 vector loop 1 k1.0 serial loop 1 k1.1 thread loop 1 k1.2 unroll loop 1 k1.3 unroll loop "
      "1 k1.4 thread loop 1 k1.5 vector loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 unroll loop 2 "
      "k2.3 unroll loop 2 k2.4 thread loop 2 k2.5 vector"}},
    {"four_units_and_two_elements",
     R"(program four_units_and_two_elements(x: f32[4113], y: written f32[4098]) {
  start t0: sum f32
  for k < 4098 { t0 += x[k + 15] at k }
  for k1 < 4098 { y[k1] = sub(x[k1 + 15], t0) }
})",
     {{}},
     {}},
    {"seventeen_units_and_two_elements",
     R"(program seventeen_units_and_two_elements(x: f32[m*17410], y: written f32[m*17410]; m in 0..) {
  for i < m {
    start t0: sum f32
    for k < 17410 { t0 += x[i*17410 + k] at k }
    for k1 < 17410 { y[i*17410 + k1] = sub(x[i*17410 + k1], t0) }
  }
})",
     {{0}, {1}, {3}},
     {}},
    {"softmax_in_shared_room",
     R"(program softmax_in_shared_room(x: bf16[m*5001], y: written bf16[m*5001]; m in 0..) {
  for i < m {
    start t0: max f32
    for k < 5001 { t0 += f32(x[i*5001 + k]) at k }
    start t1: sum f32
    for k1 < 5001 { t1 += exp(sub(f32(x[i*5001 + k1]), t0)) at k1 }
    for k2 < 5001 { y[i*5001 + k2] = bf16(div(exp(sub(f32(x[i*5001 + k2]), t0)), t1)) }
  }
})",
     {{0}, {1}, {3}},
     {"schedule values 1 scratch stage x inside i.0 scratch pad 0 widened prefetch x in 1 ahead 2 split 0 k "
      ": 2048, 1024, 256, 32 remainder split 1 k1 : 2048, 1024, 256, 32 remainder split 2 k2 : 2048, 1024, "
      "256, 32 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial loop 0 k.4 "
      "thread loop 0 k.3 vector loop 1 k1.0 serial loop 1 k1.1 thread loop 1 k1.2 serial loop 1 k1.4 thread "
      "loop 1 k1.3 vector loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 serial loop 2 k2.4 thread loop 2 "
      "k2.3 vector",
      "schedule values 1 scratch stage x inside i.0 scratch pad 0 prefetch x in 2 ahead 1 split 0 k : 2048, "
      "1024, 256, 32 remainder split 1 k1 : 2048, 1024, 256, 32 remainder split 2 k2 : 2048, 1024, 256, 32 "
      "remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial loop 0 k.4 thread "
      "loop 0 k.3 vector loop 1 k1.0 serial loop 1 k1.1 thread loop 1 k1.2 serial loop 1 k1.4 thread loop 1 "
      "k1.3 vector loop 2 k2.0 serial loop 2 k2.1 thread loop 2 k2.2 serial loop 2 k2.4 thread loop 2 k2.3 "
      "vector"}},
    {"outer_softmax",
     R"(program outer_softmax(x: f32[n*m], y: written f32[n*m]; m in 0.., n in 1..) {
  for i < m {
    start t0: max f32
    for k < n { t0 += x[k*m + i] at k }
    start t1: sum f32
    for k1 < n { t1 += exp(sub(x[k1*m + i], t0)) at k1 }
    for k2 < n { y[k2*m + i] = div(exp(sub(x[k2*m + i], t0)), t1) }
  }
})",
     {{3, 5}, {9, 31}, {17, 257}, {8, 1025}},
     {"schedule split -1 i : 8 remainder split 1 k1 : 1024, 256, 32 remainder loop -1 i.0 serial loop -1 "
      "i.1 vector loop 0 k.0 serial loop 1 k1.0 serial loop 1 k1.3 serial loop 1 k1.1 serial loop 1 k1.2 "
      "unroll loop 2 k2.0 serial"}},
    {"layer_norm",
     R"(program layer_norm(x: f32[m*n], w: f32[n], y: written f32[m*n]; m in 0.., n in 1..) {
  for i < m {
    start t0: sum f32
    for k < n { t0 += x[i*n + k] at k }
    t1 = div(t0, f32(count(n)))
    start t2: sum f32
    for k1 < n { t3 = sub(x[i*n + k1], t1) t2 += mul(t3, t3) at k1 }
    t4 = rsqrt(add(div(t2, f32(count(n))), 0x1p-17:f32))
    for k2 < n { y[i*n + k2] = mul(mul(sub(x[i*n + k2], t1), t4), w[k2]) }
  }
})",
     short_rows,
     {}},
};

}  // namespace

std::span<const NestCase> nest_cases() {
  static const std::vector<NestCase> all = [] {
    std::vector<NestCase> joined = cases;
    for (const auto& more : {scan_nests(), nests_below_bounds(), nests_of_panels(), nests_with_lookups()})
      joined.insert(joined.end(), more.begin(), more.end());
    return joined;
  }();
  return all;
}

}  // namespace twinloom::tests
