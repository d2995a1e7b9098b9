// Why schedules are refused, in words; and the text of a schedule.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/schedule/run.h"
#include "tests/support/schedules/random_schedule.h"

namespace twinloom::tests {

namespace {

constexpr std::string_view POINTWISE = R"(program add(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 0..) {
  for i < m { for j < n { y[i*n + j] = x[i*n + j] } } })";
constexpr std::string_view SUM = R"(program row_sum(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m { start t0: sum f32 for k < n { t0 += x[i*n + k] at k } y[i] = t0 } })";
constexpr std::string_view TWO_AXES =
    R"(program two_axes(x: f32[m*n], y: written f32[1]; m in 0.., n in 0..) {
  start t0: sum f32 for i < m { for k < n { t0 += x[i*n + k] at i*n + k } } y[0] = t0 })";
constexpr std::string_view SCAN = R"(program cumsum(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: sum f32 for k < n { scan t1 = t0 (x[k]) at k y[k] = t1 } })";
constexpr std::string_view SCAN_OF_SCAN = R"(program cumsum(x: f32[n], y: written f32[n]; n in 0..) {
  start t0: sum f32 start t2: sum f32 for k < n {
    scan t1 = t0 (x[k]) at k t4 = neg(t1) scan t3 = t2 (t4) at k y[k] = t3 } })";

constexpr std::string_view COLUMNS = R"(program columns(x: f32[16*2048], y: written f32[16]) {
  for i < 16 { start t0: sum f32 for k < 2048 { t0 += x[16*k + i] at k } y[i] = t0 } })";
constexpr std::string_view FEW_IN_THE_LAST_UNIT = R"(program columns(x: f32[16*1030], y: written f32[16]) {
  for i < 16 { start t0: sum f32 for k < 1030 { t0 += x[16*k + i] at k } y[i] = t0 } })";
constexpr std::string_view HIGHEST = R"(program highest(x: f32[16*2048], y: written f32[16]) {
  for i < 16 { start t0: max f32 for k < 2048 { t0 += x[16*k + i] at k } y[i] = t0 } })";

constexpr std::string_view ROWS_OF_SEGMENTS =
    R"(program rows(x: f32[m*9], at: i64[n + 1], y: written f32[n*9]; m in 0.., n in 0..) {
  for i < n { for j < 9 { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: max f32 for k < b - a { t0 += x[9*(a + k) + j] at k } y[9*i + j] = t0 } } })";
constexpr std::string_view SEGMENTS =
    R"(program segments(x: f32[m], at: i64[n + 1], y: written f32[n]; m in 0.., n in 0..) {
  for i < n { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: max f32 for k < b - a { t0 += x[a + k] at k } y[i] = t0 } })";

constexpr std::string_view LOOKED_UP =
    R"(program looked_up(x: f32[101*m], at: i64[9*n], y: written f32[n*m]; m in 0.., n in 0..) {
  for i < n { for j < m { start t0: max f32
    for k < 9 { index a = at[9*i + k] below 101 t0 += x[m*a + j] at k } y[m*i + j] = t0 } } })";
constexpr std::string_view LOOKED_UP_APART =
    R"(program looked_up_apart(x: f32[101*m], at: i64[9*n], y: written f32[n*m]; m in 0.., n in 0..) {
  for i < n { for j < m { start t0: max f32
    for k < 9 { index a = at[n*k + i] below 101 t0 += x[m*a + j] at k } y[m*i + j] = t0 } } })";

constexpr std::string_view ROWS =
    R"(program rows(x: f32[m*33], w: f32[33], v: f32[n], y: written f32[m*33]; m in 0.., n in 33..) {
  for i < m { start t0: max f32 for k < 33 { t0 += x[i*33 + k] at k }
    for k1 < 33 { y[i*33 + k1] = mul(mul(sub(x[i*33 + k1], t0), w[k1]), v[k1]) } } })";

// Where the last loop finds its row is known behind the first one.
constexpr std::string_view FOUND_BETWEEN =
    R"(program found(x: f32[m*32], p: i64[m], w: f32[64], y: written f32[m*32]; m in 0..) {
  for i < m { start t0: max f32 for k < 32 { t0 += x[i*32 + k] at k }
    index a = p[i] below 2
    for k1 < 32 { y[i*32 + k1] = mul(sub(x[i*32 + k1], t0), w[32*a + k1]) } } })";

constexpr std::string_view SCALED =
    R"(program scaled(x: f32[33*70], s: f32[33], w: f32[70], y: written f32[33*70]) {
  for i < 33 { for j < 70 { y[70*i + j] = mul(mul(x[70*i + j], s[i]), w[j]) } } })";
constexpr std::string_view TURNED =
    R"(program turned(x: f32[40*n], z: f32[40*n], s: f32[40], w: f32[40*n], y: written f32[40*n]; n in 0..) {
  for i < 40 { for j < n {
    y[i*n + j] = add(mul(add(x[40*j + i], z[i*n + j]), s[i]), sub(w[40*j + i], w[40*j])) } } })";
constexpr std::string_view TWICE = R"(program twice(x: f32[m*33], y: written f32[m*33]; m in 0..) {
  for i < m { start t0: max f32 for k < 33 { t0 += exp(x[i*33 + k]) at k }
    for k1 < 33 { y[i*33 + k1] = sub(exp(x[i*33 + k1]), t0) } } })";

constexpr std::string_view FAR_BOUND =
    R"(program far(x: f32[n], y: written f32[n]; n in 0..1048577) { for i < n { y[i] = x[i] } })";
constexpr std::string_view NEAR_BOUND =
    R"(program near(x: f32[n], y: written f32[n]; n in 0..1000) { for i < n { y[i] = x[i] } })";

struct Refusal {
  std::string_view nest, schedule, words;
};
const std::vector<Refusal> refusals = {
    {SEGMENTS, "schedule split -1 i : 8 mask loop -1 i.0 serial loop -1 i.1 vector loop 0 k.0 serial",
     "axis k: it may end at another turn in each lane"},
    {ROWS_OF_SEGMENTS,
     "schedule split -1 j : 4 mask loop -1 i.0 serial loop -1 j.0 serial loop -1 j.1 vector loop 0 k.0 "
     "serial",
     "legal"},
    {ROWS_OF_SEGMENTS,
     "schedule split -1 i : 8 mask loop -1 j.0 serial loop -1 i.0 serial loop -1 i.1 vector loop 0 k.0 "
     "serial",
     "axis k: it may end at another turn in each lane"},
    {NEAR_BOUND, "schedule split -1 i : 4 mask loop -1 i.0 thread loop -1 i.1 serial", "legal"},
    {NEAR_BOUND, "schedule split -1 i : 4 clip loop -1 i.0 thread loop -1 i.1 serial",
     "loop i.0: a thread loop needs a constant extent"},
    {FAR_BOUND, "schedule split -1 i : 4 mask loop -1 i.0 thread loop -1 i.1 serial",
     "loop i.0: a thread loop needs a constant extent"},
    {SEGMENTS, "schedule grid k units 1 loop -1 i.0 block loop 0 k.0 serial",
     "grid k: the number of parts depends on a, which only the kernel knows"},
    {POINTWISE, "schedule loop -1 i.0 serial", "piece j.0 of the common loops has no loop"},
    {POINTWISE, "schedule loop -1 i.0 serial loop -1 j.0 serial loop -1 i.0 serial",
     "loop i.0 is given twice"},
    {POINTWISE, "schedule loop -1 q.0 serial", "loop q.0: the common loops have no such piece"},
    {POINTWISE, "schedule loop 0 i.0 serial", "loop i.0: there is no sibling 0"},
    {POINTWISE, "schedule split -1 q : 8 mask", "split q: the common loops have no such axis"},
    {POINTWISE, "schedule split -1 j : 8 mask split -1 j : 4 mask", "axis j is split twice"},
    {POINTWISE, "schedule split -1 j : 8, 16 mask",
     "split j: the factors must fall, each a multiple of the next, the last above 1"},
    {POINTWISE, "schedule split -1 j : 24, 16 mask",
     "split j: the factors must fall, each a multiple of the next, the last above 1"},
    {POINTWISE, "schedule split -1 j : 8 exact loop -1 i.0 block loop -1 j.0 serial loop -1 j.1 vector",
     "split j: exact, but 8 is not known to divide n"},
    {POINTWISE, "schedule loop -1 i.0 block loop -1 j.0 vector",
     "loop j.0: a vector loop needs a constant extent"},
    {POINTWISE, "schedule split -1 j : 2048 mask loop -1 i.0 block loop -1 j.0 serial loop -1 j.1 vector",
     "loop j.1: a vector loop has at most 1024 iterations, not 2048"},
    {POINTWISE, "schedule split -1 j : 2048 mask loop -1 i.0 block loop -1 j.0 serial loop -1 j.1 unroll",
     "loop j.1: an unrolled loop has at most 1024 iterations, not 2048"},
    {POINTWISE,
     "schedule split -1 j : 24, 8 mask loop -1 i.0 block loop -1 j.0 serial loop -1 j.2 serial loop -1 j.1 "
     "vector",
     "loop j.1: a vector loop needs a power of two of turns; it has 3"},
    {SCALED,
     "schedule split -1 j : 24, 8 mask loop -1 i.0 block loop -1 j.0 block loop -1 j.1 thread loop -1 j.2 "
     "vector",
     "legal"},
    {TURNED,
     "schedule split -1 j : 24 mask split -1 i : 8 exact loop -1 i.0 block loop -1 j.0 block loop -1 i.1 "
     "thread "
     "loop -1 j.1 thread stage x inside task scratch pad 1",
     "stage x: loop j.1 has 24 threads, which is no power of two"},
    {POINTWISE, "schedule loop -1 i.0 serial loop -1 j.0 block",
     "loop j.0: a block loop inside one that is not"},
    {COLUMNS,
     "schedule split -1 i : 8 exact split 0 k : 1024, 256, 128 exact loop -1 i.0 block loop -1 i.1 vector "
     "loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 thread",
     "loop k.2: a thread loop inside a vector loop"},
    {SCALED,
     "schedule split -1 j : 8 mask split -1 i : 8 mask loop -1 j.0 block loop -1 i.0 serial loop -1 j.1 "
     "vector "
     "loop -1 i.1 thread",
     "loop i.1: a thread loop inside a vector loop"},
    {POINTWISE, "schedule loop -1 i.0 thread loop -1 j.0 serial",
     "loop i.0: a thread loop needs a constant extent"},
    {POINTWISE, "schedule split -1 j : 8 mask loop -1 i.0 serial loop -1 j.0 block loop -1 j.1 block",
     "loop j.0: a block loop inside one that is not"},
    {POINTWISE, "schedule split -1 j : 8 mask loop -1 j.0 block loop -1 j.1 block loop -1 i.0 serial",
     "loop j.1: two block loops of one axis"},
    {POINTWISE, "schedule split -1 j : 8 remainder loop -1 i.0 serial loop -1 j.0 block loop -1 j.1 vector",
     "loop j.0: a block loop inside one that is not"},
    {POINTWISE, "schedule split -1 j : 8 remainder loop -1 j.0 block loop -1 i.0 serial loop -1 j.1 vector",
     "split j: remainder needs a serial piece outside its unroll and vector pieces"},
    {POINTWISE, "schedule split -1 j : 8 clip loop -1 i.0 serial loop -1 j.0 serial loop -1 j.1 vector",
     "split j: clip, but a piece is unroll or vector"},
    {POINTWISE, "schedule split -1 j : 8 clip loop -1 i.0 serial loop -1 j.1 serial loop -1 j.0 serial",
     "split j: clip needs its pieces from the largest to the smallest"},
    {POINTWISE,
     "schedule split -1 i : 4 mask split -1 j : 8 mask loop -1 i.0 serial loop -1 j.0 serial loop -1 i.1 "
     "vector loop -1 j.1 vector",
     "two vector loops, one inside the other"},
    {POINTWISE, "schedule fuse j, i as r loop -1 r.0 serial", "fuse j, i as r: there is not one loop over i"},
    {POINTWISE, "schedule fuse i, j as n loop -1 n.0 serial", "fuse i, j as n: the name n is taken"},
    {POINTWISE, "schedule stage x inside j.0 registers pad 0 loop -1 i.0 serial loop -1 j.0 serial",
     "stage x: j.0 is not the one serial loop around the vector"},
    {TURNED,
     "schedule split -1 j : 8 remainder loop -1 j.0 serial loop -1 i.0 serial loop -1 j.1 vector "
     "stage x inside i.0 registers pad 0",
     "legal"},
    {TURNED,
     "schedule split -1 j : 8 remainder loop -1 j.0 serial loop -1 i.0 serial loop -1 j.1 vector "
     "stage x inside j.0 registers pad 0",
     "stage x: j.0 is not the one serial loop around the vector"},
    {TURNED,
     "schedule split -1 j : 8 remainder loop -1 j.0 serial loop -1 i.0 serial loop -1 j.1 vector "
     "stage z inside i.0 registers pad 0",
     "stage z: its neighbours do not lie along the serial loop"},
    {TURNED,
     "schedule split -1 j : 8 remainder loop -1 j.0 serial loop -1 i.0 serial loop -1 j.1 vector "
     "stage s inside i.0 registers pad 0",
     "stage s: the vector does not walk rows of it"},
    {TURNED,
     "schedule split -1 j : 8 remainder split -1 i : 16 mask loop -1 i.0 serial loop -1 j.0 serial "
     "loop -1 i.1 serial loop -1 j.1 vector stage x inside i.1 registers pad 0",
     "stage x: the last turns of i.1 are masked"},
    {TURNED,
     "schedule split -1 j : 8 remainder loop -1 j.0 serial loop -1 i.0 serial loop -1 j.1 vector "
     "stage w inside i.0 registers pad 0",
     "stage w: it is not loaded at one place without a mask"},
    {ROWS,
     "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial stage w inside i.0 registers pad 0",
     "stage w: no two siblings load it at the same places"},
    {FOUND_BETWEEN,
     "schedule split 0 k : 4 exact split 1 k1 : 4 exact loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 "
     "vector "
     "loop 1 k1.0 thread loop 1 k1.1 vector stage w inside i.0 registers pad 0",
     "stage w: no two siblings load it at the same places"},
    {ROWS,
     "schedule split 0 k : 4 mask split 1 k1 : 2 mask loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 "
     "vector "
     "loop 1 k1.0 thread loop 1 k1.1 vector stage w inside i.0 registers pad 0",
     "stage w: siblings 0 and 1 walk it by different threads"},
    {ROWS,
     "schedule split 0 k : 4 mask split 1 k1 : 4 mask loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 "
     "vector "
     "loop 1 k1.0 thread loop 1 k1.1 vector stage w inside i.0 registers pad 0",
     "legal"},
    {ROWS,
     "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial stage x inside task registers pad 0",
     "stage x: the row depends on i"},
    {ROWS,
     "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial stage v inside task registers pad 0",
     "stage v: the row is not known to be inside the buffer"},
    {ROWS,
     "schedule loop -1 i.0 block loop 0 k.0 serial loop 1 k1.0 serial stage w inside task registers pad 0",
     "stage w: a task is one turn"},
    {ROWS,
     "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial stage w inside task registers pad 0",
     "legal"},
    {SCALED, "schedule loop -1 i.0 serial loop -1 j.0 serial stage s inside task registers pad 0",
     "stage s: the innermost loop does not walk the row"},
    {SCALED, "schedule loop -1 i.0 serial loop -1 j.0 serial stage w inside task registers pad 0", "legal"},
    {ROWS, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial values 1 registers",
     "values 1: only 0 are computed twice"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial values 2 registers",
     "values 2: only 1 are computed twice"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial values -1 registers",
     "values -1: a count of values is 0 or more"},
    {TWICE,
     "schedule split 0 k : 32 mask split 1 k1 : 8 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial "
     "loop 1 k1.0 serial loop 1 k1.1 thread values 1 registers",
     "values: sibling 0 walks it without the block's threads"},
    {SCALED,
     "schedule split -1 i : 8 mask loop -1 i.0 block loop -1 i.1 thread loop -1 j.0 serial "
     "stage w inside task registers pad 0",
     "stage w: each thread would fill it"},
    {TWICE,
     "schedule split -1 i : 8 mask loop -1 i.0 serial loop -1 i.1 vector loop 0 k.0 serial loop 1 k1.0 "
     "serial "
     "values 1 registers",
     "values: rows in lock-step have no arrays of their own"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial values 1 registers", "legal"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch x in 1 ahead 1",
     "legal"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch y in 0 ahead 1",
     "legal"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch y in 1 ahead 1",
     "prefetch y: no later sibling writes as long a row of it"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch z in 1 ahead 1",
     "prefetch z: there is no such buffer"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch x in 2 ahead 1",
     "prefetch x: there is no sibling 2"},
    {TWICE,
     "schedule split -1 i : 8 mask loop -1 i.0 serial loop -1 i.1 vector loop 0 k.0 serial loop 1 k1.0 "
     "serial prefetch x in 1 ahead 1",
     "prefetch x: rows in lock-step have no next row"},
    {ROWS, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch w in 1 ahead 1",
     "prefetch w: the next turn reads the same"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial prefetch x in 1 ahead 0",
     "prefetch x: 0 turns ahead"},
    {TWICE,
     "schedule prefetch x in 1 ahead 5 split 0 k : 32 mask split 1 k1 : 32 mask loop -1 i.0 block loop 0 k.0 "
     "serial loop 0 k.1 thread loop 1 k1.0 serial loop 1 k1.1 thread",
     "legal"},
    {TWICE,
     "schedule prefetch y in 0 ahead 1 split 0 k : 32 mask split 1 k1 : 32 mask loop -1 i.0 block loop 0 k.0 "
     "serial loop 0 k.1 thread loop 1 k1.0 serial loop 1 k1.1 thread",
     "prefetch y: threads fetch only what is read"},
    {TWICE,
     "schedule prefetch x in 1 ahead 5 split -1 i : 2 mask split 0 k : 32 mask split 1 k1 : 32 mask loop -1 "
     "i.0 block loop -1 i.1 thread loop 0 k.0 serial loop 0 k.1 thread loop 1 k1.0 serial loop 1 k1.1 thread",
     "prefetch x: a block walks several rows"},
    {TWICE,
     "schedule values 1 scratch split 0 k : 32 mask split 1 k1 : 32 mask loop -1 i.0 block loop 0 k.0 serial "
     "loop 0 k.1 thread loop 1 k1.0 serial loop 1 k1.1 thread",
     "legal"},
    {TWICE, "schedule loop -1 i.0 serial loop 0 k.0 serial loop 1 k1.0 serial values 1 scratch",
     "values: only registers hold them for one thread, or scratch where a block has threads"},
    {TWICE,
     "schedule stage x inside i.0 scratch pad 0 widened split 0 k : 32 mask split 1 k1 : 32 mask loop -1 i.0 "
     "block loop 0 k.0 serial loop 0 k.1 thread loop 1 k1.0 serial loop 1 k1.1 thread",
     "stage x: only rows of 16-bit floats in scratch are widened"},
    {SEGMENTS, "schedule loop -1 i.0 serial loop 0 k.0 serial prefetch x in 0 ahead 1",
     "prefetch x: its offset depends on a"},
    {LOOKED_UP,
     "schedule split -1 j : 8 mask loop -1 i.0 serial loop -1 j.0 serial loop -1 j.1 vector loop 0 k.0 "
     "serial "
     "prefetch x in 0 ahead 16",
     "legal"},
    {LOOKED_UP_APART,
     "schedule split -1 j : 8 mask loop -1 i.0 serial loop -1 j.0 serial loop -1 j.1 vector loop 0 k.0 "
     "serial "
     "prefetch x in 0 ahead 16",
     "prefetch x: its places are not looked up in one list"},
    {LOOKED_UP,
     "schedule split -1 j : 8 mask loop -1 i.0 block loop -1 j.0 serial loop -1 j.1 thread loop 0 k.0 serial "
     "prefetch x in 0 ahead 16",
     "prefetch x: threads look up places side by side"},
    {POINTWISE, "schedule grid j units 1 loop -1 i.0 serial loop -1 j.0 serial",
     "grid j: there is no reduction"},
    {POINTWISE, "schedule stream x loop -1 i.0 serial loop -1 j.0 serial",
     "stream x: no such buffer is written"},
    {SUM,
     "schedule panel split 0 k : 1024, 256 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial "
     "loop 0 "
     "k.2 serial",
     "panel: no serial loop around a vector of rows"},
    {COLUMNS,
     "schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 exact loop -1 i.0 block loop -1 i.1 "
     "serial loop "
     "-1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "legal"},
    {COLUMNS,
     "schedule panel split -1 i : 4 exact split 0 k : 1024, 256, 64 exact loop -1 i.0 block loop -1 i.1 "
     "vector loop 0 "
     "k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "panel: no serial loop around a vector of rows"},
    {COLUMNS,
     "schedule panel split -1 i : 8, 4 remainder split 0 k : 1024, 256, 64 exact loop -1 i.0 block loop -1 "
     "i.1 serial "
     "loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "panel: the last iterations of i are no whole ones"},
    {COLUMNS,
     "schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256 exact loop -1 i.0 block loop -1 i.1 "
     "serial loop -1 "
     "i.2 vector loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
     "panel: there is not one loop of lanes between the units and a chain"},
    {COLUMNS,
     "schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 mask loop -1 i.0 block loop -1 "
     "i.1 serial "
     "loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "panel: the rows of k are no constant number of units"},
    {FEW_IN_THE_LAST_UNIT,
     "schedule panel split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 remainder loop -1 i.0 block loop -1 "
     "i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "panel: the 6 rows of the last unit leave some of 64 lanes without any"},
    {HIGHEST,
     "schedule panel split -1 i : 8, 4 exact loop -1 i.0 block loop -1 i.1 serial loop -1 i.2 vector loop 0 "
     "k.0 serial",
     "panel: there is not one sibling alone, with totals in the canonical order"},
    {COLUMNS,
     "schedule transposed_rows split -1 i : 8, 4 exact split 0 k : 1024, 256, 64 exact loop -1 i.0 block "
     "loop -1 "
     "i.1 serial loop -1 i.2 vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "legal"},
    {SUM,
     "schedule transposed_rows split 0 k : 1024, 256 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 "
     "k.1 "
     "serial loop 0 k.2 serial",
     "transposed_rows: no vector walks rows side by side"},
    {COLUMNS,
     "schedule transposed_rows split -1 i : 4 mask split 0 k : 1024, 256, 64 exact loop -1 i.0 block loop -1 "
     "i.1 "
     "vector loop 0 k.0 serial loop 0 k.3 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "transposed_rows: the vector of rows is masked"},
    {POINTWISE, "schedule transposed_rows loop -1 i.0 serial loop -1 j.0 serial",
     "transposed_rows: no vector walks rows side by side"},
    {SUM, "schedule loop -1 i.0 block loop 0 k.0 serial", "axis k: the canonical order needs steps of 1024"},
    {SUM,
     "schedule split 0 k : 1024, 32 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 unroll loop 0 "
     "k.2 serial",
     "axis k: the canonical order needs steps of 256"},
    {SUM,
     "schedule split 0 k : 1024, 256 mask short 8 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial loop "
     "0 k.2 serial",
     "split k: only a remainder of totals in the canonical order has a short last unit"},
    {HIGHEST,
     "schedule split 0 k : 1024, 256 remainder short 8 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 serial "
     "loop 0 k.2 serial",
     "split k: only a remainder of totals in the canonical order has a short last unit"},
    {POINTWISE,
     "schedule split -1 j : 8 remainder short 8 loop -1 i.0 serial loop -1 j.0 serial loop -1 j.1 vector",
     "split j: only a remainder of totals in the canonical order has a short last unit"},
    {SUM,
     "schedule split 0 k : 2048, 1024, 256 remainder short 8 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 serial loop 0 k.3 serial",
     "split k: a short last unit stands behind one loop of single units, of neighbouring threads or none"},
    {SUM,
     "schedule split 0 k : 1024, 256, 32 remainder short 16 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 unroll loop 0 k.3 thread",
     "split k: a short last unit of 16 elements is not one of 32 by threads"},
    {SUM,
     "schedule split 0 k : 1024, 256, 8 remainder short 8 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 thread loop 0 k.3 serial",
     "split k: a short last unit stands behind one loop of single units, of neighbouring threads or none"},
    {SUM,
     "schedule split 0 k : 1024, 256 remainder short 64, 8 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 serial",
     "split k: the lengths of a short last unit are rising powers of two, from 2 to 256"},
    {SUM,
     "schedule split 0 k : 1024, 256 remainder short 12 loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 serial",
     "split k: the lengths of a short last unit are rising powers of two, from 2 to 256"},
    {SUM,
     "schedule split 0 k : 1024, 256, 8 remainder loop -1 i.0 block loop 0 k.1 serial loop 0 k.0 serial loop "
     "0 k.2 unroll loop 0 k.3 vector",
     "loop k.0 of k: units must be the outermost loops"},
    {SUM,
     "schedule split 0 k : 1024, 256, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 unroll loop "
     "0 k.1 serial loop 0 k.3 vector",
     "loop k.3 of k: lanes 8 apart would be combined after those 1 apart"},
    {SUM,
     "schedule split 0 k : 1024, 512, 256, 8 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.2 serial "
     "loop 0 k.1 serial loop 0 k.3 unroll loop 0 k.4 vector",
     "loop k.1 of k: the chain of a lane must be walked in order"},
    {SUM,
     "schedule split 0 k : 1024, 256 remainder loop -1 i.0 block loop 0 k.0 block loop 0 k.1 serial loop 0 "
     "k.2 serial",
     "loop k.0: a block loop inside a sibling"},
    {SUM,
     "schedule grid k units 3 split 0 k : 1024, 256 remainder loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 "
     "serial loop 0 k.2 serial",
     "grid k: the units of a part are a power of two"},
    {SUM,
     "schedule split 0 k : 1024, 256, 8 mask loop -1 i.0 block loop 0 k.0 serial loop 0 k.1 thread loop 0 "
     "k.2 "
     "unroll loop 0 k.3 vector",
     "loop k.1 of k: threads side by side walk lanes, or single units"},
    {SUM,
     "schedule split 0 k : 4096, 256, 8 mask loop -1 i.0 block loop 0 k.0 thread loop 0 k.1 serial loop 0 "
     "k.2 "
     "unroll loop 0 k.3 vector",
     "axis k: steps above 1024 without one of it"},
    {SUM,
     "schedule grid k units 2 threads 3 split 0 k : 1024, 256 remainder loop -1 i.0 block loop 0 k.0 serial "
     "loop 0 k.1 serial loop 0 k.2 serial",
     "grid k: the threads that gather are a power of two up to 1024"},
    {SUM,
     "schedule stage x inside task scratch pad 0 split -1 i : 4 mask split 0 k : 1024, 256 mask loop -1 i.0 "
     "block loop -1 i.1 thread loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 serial",
     "stage x: a tile of a block is for all of a task without siblings"},
    {SCAN, "schedule split 0 k : 1024, 32 mask loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 thread",
     "axis k: of a scan by threads these walk rows and chunks, and nothing else"},
    {SCAN,
     "schedule split 0 k : 4096, 512, 32 mask loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 thread loop 0 "
     "k.3 serial",
     "axis k: a scan by threads is split by 1024, 32, whose steps are threads, and perhaps by several chunks "
     "before them"},
    {SCAN, "schedule split 0 k : 1024, 32 clip loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial",
     "axis k: a scan by threads ends by mask or exact"},
    {SCAN, "schedule split 0 k : 32 mask loop 0 k.0 thread loop 0 k.1 serial",
     "axis k: a scan by threads of more than 1024 elements has such steps"},
    {SCAN,
     "schedule split 0 k : 1024, 32, 8 mask loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 vector loop "
     "0 k.3 serial",
     "axis k: of a scan by threads these walk rows and chunks, and nothing else"},
    {SCAN_OF_SCAN, "schedule split 0 k : 1024, 32 mask loop 0 k.0 serial loop 0 k.1 thread loop 0 k.2 serial",
     "axis k: a scan reads another's result"},
    {TWO_AXES, "schedule loop 0 i.0 serial loop 0 k.0 serial",
     "the canonical order needs the reduced axes walked as one: fuse them"},
    {SCAN, "schedule loop 0 k.0 serial", "axis k: a scan is split by 1024, 32"},
    {SCAN, "schedule split 0 k : 1024, 32 remainder loop 0 k.0 serial loop 0 k.1 serial loop 0 k.2 unroll",
     "axis k: a scan ends by clip, mask or exact"},
    {SCAN, "schedule split 0 k : 1024, 32 clip loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 serial",
     "axis k: a scan is walked in order"},
    {SCAN, "schedule split 0 k : 1024, 32 clip loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 vector",
     "axis k: a scan with a vector of rows ends by mask or exact"},
    {SCAN, "schedule split 0 k : 1024, 32 mask loop 0 k.0 serial loop 0 k.1 vector loop 0 k.2 serial",
     "loop k.1: a vector of rows stands inside two serial loops"},
    {SCAN_OF_SCAN, "schedule split 0 k : 1024, 32 mask loop 0 k.0 serial loop 0 k.2 serial loop 0 k.1 vector",
     "axis k: a scan reads another's result"},
};

TEST(Law, RefusesInWords) {
  for (const Refusal& refusal : refusals) {
    const auto reason = schedule::why_illegal(loops::parse(refusal.nest), schedule::parse(refusal.schedule));
    EXPECT_EQ(reason.value_or("legal"), refusal.words) << refusal.schedule;
  }
}

TEST(Law, WhatIsChosenIsLegalWhereRowsDifferInLength) {
  const loops::Program nest = loops::parse(
      R"(program segments(x: f64[m], at: i64[n + 1], y: written f64[n]; m in 0.., n in 0..) {
  for i < n { index a = at[i] below m + 1 index b = at[i + 1] below m + 1
    start t0: max f64 for k < b - a { t0 += x[a + k] at k }
    start t1: sum f64 for r < 1 { scan t2 = t1 (t0) at 0 y[i] = t2 } } })");
  for (const machine::Machine& machine : machines())
    EXPECT_EQ(schedule::why_illegal(nest, schedule::choose(nest, machine)).value_or("legal"), "legal");
}

TEST(Law, WhatIsChosenIsLegalBesideTotalsOfColumnsOfSymbolicRows) {
  const loops::Program nest = loops::parse(
      R"(program both(x: f16[m*n*77], y: written f32[m*n], z: written f32[77]; m in 0.., n in 0..) {
  start t1: sum f32 copies (k) for i < m { for j < n { start t0: sum f32
    for k < 77 { t0 += f32(x[i*n*77 + j*77 + k]) at k t1 += f32(x[i*n*77 + j*77 + k]) at i*n + j }
    y[i*n + j] = t0 } } for k < 77 { z[k] = t1 } })");
  for (const machine::Machine& machine : machines())
    EXPECT_EQ(schedule::why_illegal(nest, schedule::choose(nest, machine)).value_or("legal"), "legal");
}

// Without the loads of a value that is kept, what is left of the row would be walked in lock-step.
TEST(Law, WhatIsChosenIsLegalWhereAKeptValueLeavesColumns) {
  const loops::Program nest = loops::parse(
      R"(program turned(x: bf16[91], given: b8[13], top: f32[13], y: written bf16[182]) {
  for i < 13 {
    start t0: max f32
    for k < 7 { t0 += f32(bf16(asinh(f32(x[7*i + k])))) at k }
    start t1: sum f32
    t2 = where(given[i], top[i], t0)
    for k1 < 7 { t1 += exp(sub(f32(bf16(asinh(f32(x[7*i + k1])))), t2)) at k1 }
    for k2 < 7 { for k3 < 2 {
      t3 = f32(x[7*i + k2])
      y[i + 26*k2 + 13*k3] = bf16(mul(f32(bf16(div(exp(sub(f32(bf16(asinh(t3))), t2)), t1))), t3))
    } } } })");
  for (const machine::Machine& machine : machines())
    EXPECT_EQ(schedule::why_illegal(nest, schedule::choose(nest, machine)).value_or("legal"), "legal");
}

TEST(Law, WhatIsChosenFitsTheScratchOfATask) {
  const loops::Program nest = loops::parse(
      R"(program long_row(x: f32[8*m], w: f32[9000000], y: written f32[9000000*m], z: written f32[8*m]; m in 0..) {
  for i < m {
    start t0: max f32 for k < 8 { t0 += x[8*i + k] at k }
    for k1 < 8 { z[8*i + k1] = exp(x[8*i + k1]) }
    for k2 < 9000000 { y[9000000*i + k2] = mul(exp(w[k2]), t0) } } })");
  for (const machine::Machine& machine : machines()) {
    std::int64_t bytes = 0;
    for (const loops::Program& program : schedule::apply(nest, schedule::choose(nest, machine)))
      for (const loops::BufferInfo& info : program.buffers)
        if (info.local) bytes += *index::constant_of(info.count) * ops::size_of(info.dtype);
    EXPECT_LE(bytes, machine.scratch_bytes) << machine.name;
  }
}

TEST(Law, RefusesToScheduleACall) {
  const loops::Program nest =
      loops::parse(R"(program sort(keys: i64[n], order: written i64[n], starts: written i64[9]; n in 0..) {
  call stable_sort(order, starts) sizes (n, 8) { slot t0 at (p) { t0 = keys[p] } } })");
  EXPECT_EQ(schedule::why_illegal(nest, schedule::Schedule{}), std::nullopt);
  EXPECT_EQ(schedule::choose(nest, machines().front()), schedule::Schedule{});
  EXPECT_EQ(schedule::why_illegal(nest, schedule::parse("schedule loop -1 p.0 serial")).value_or(""),
            "a routine's call has no loops to schedule");
  ASSERT_EQ(schedule::apply(nest, {}).size(), 1u);
}

}  // namespace

}  // namespace twinloom::tests
