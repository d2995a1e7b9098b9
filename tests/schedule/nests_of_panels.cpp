// Nests whose columns are walked side by side. See nests.h, and core/schedule/panel.cpp.
#include "tests/schedule/nests.h"

namespace twinloom::tests {

namespace {

const std::vector<NestCase> cases = {
    {"sums_of_columns",
     R"(program sums_of_columns(x: f32[49152*m], y: written f32[16*m], z: written f32[16*m]; m in 0..) {
  for b < m {
    for i < 16 {
      start t0: sum f32
      start t1: sum f32
      for k < 3072 {
        t0 += x[49152*b + 16*k + i] at k
        t1 += mul(x[49152*b + 16*k + i], x[49152*b + 16*k + i]) at k
      }
      y[16*b + i] = add(t0, t1)
      z[16*b + i] = t1
    }
  }
})",
     {{0}, {1}, {2}},
     {"schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 exact loop -1 b.0 block loop -1 i.0 "
      "serial loop -1 i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial "
      "loop 0 k.2 unroll",
      "schedule panel split -1 i : 16, 2 exact split 0 k : 1024, 256, 128 exact loop -1 i.0 block loop -1 "
      "b.0 serial loop -1 i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 "
      "serial loop 0 k.2 serial",
      "schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64, 16 exact loop -1 b.0 block loop -1 "
      "i.0 serial loop -1 i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.4 serial loop 0 k.1 "
      "serial loop 0 k.3 unroll loop 0 k.2 unroll"}},
    {"columns_with_stores",
     R"(program columns_with_stores(x: f32[1500*16], a: f32[16], b: f32[1500], y: written bf16[1500*16], z: written f32[16]) {
  for i < 16 {
    start t0: sum f32
    t1 = mul(a[i], a[i])
    t2 = add(t1, a[i])
    for k < 1500 {
      t3 = mul(x[16*k + i], b[k])
      t0 += mul(t3, t2) at k
      y[16*k + i] = bf16(add(t3, t1))
    }
    z[i] = add(t0, t1)
  }
})",
     {{}},
     {"schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 remainder loop -1 i.0 block loop -1 "
      "i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule panel split -1 i : 16, 8 exact split 0 k : 1024, 256 remainder loop -1 i.0 block loop -1 i.1 "
      "serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 serial stage b inside task "
      "registers pad 0"}},
    {"columns_that_end_in_a_vector",
     R"(program columns_that_end_in_a_vector(x: f32[1300*21], a: f32[21], y: written f32[1300*21], z: written f32[21]) {
  for i < 21 {
    start t0: sum f32
    t1 = mul(a[i], a[i])
    for k < 1300 {
      t2 = mul(x[21*k + i], t1)
      t0 += t2 at k
      y[21*k + i] = t2
    }
    z[i] = add(t0, t1)
  }
})",
     {{}},
     {"schedule panel split -1 i : 8, 4 mask split 0 k : 1024, 256, 64 remainder loop -1 i.0 block loop -1 "
      "i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
      "schedule panel split -1 i : 16, 4 mask split 0 k : 1024, 256 remainder loop -1 i.0 block loop -1 i.1 "
      "serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 serial"}}};

}  // namespace

std::vector<NestCase> nests_of_panels() { return cases; }

}  // namespace twinloom::tests
