// Sums over the values that the threads of a warp or block have, up to each of them.
#pragma once

namespace twinloom::device {

// The sum of the values of the warp's lanes up to this one.
template <class Sum>
TWINLOOM_INLINE Sum sum_through(Sum value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const Sum other = Sum(__shfl_up_sync(WHOLE_WARP, value, distance));
    if (int(threadIdx.x) % 32 >= distance) value += other;
  }
  return value;
}
// The sum of the values of the block's threads before this one. There must be a barrier before the next call.
template <int warps, class Sum>
TWINLOOM_INLINE Sum sum_before(Sum value, Sum* of_warps) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const Sum through = sum_through(value);
  if (lane == 31) of_warps[warp] = through;
  __syncthreads();
  Sum before = through - value;
  TWINLOOM_UNROLL
  for (int other = 0; other < warps; ++other) before += other < warp ? of_warps[other] : 0;
  return before;
}

}  // namespace twinloom::device
