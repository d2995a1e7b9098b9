// Sorts the words of a row by a network of comparators, where a thread has some of them in registers. A row
// has as many threads as a power of two says, which follow each other. Each sorts its own words (Batcher's
// odd-even merge sort); then runs of words are merged two by two (bitonic: the second run is read backwards):
//   for runs of 2, 4, .. threads {
//     words change places with those of the mirrored thread, in reverse order
//     for distance = a fourth of the run's threads, .., 2, 1 { with those of the thread at this distance }
//     each thread merges what it has
//   }
// Threads of a warp exchange words by shuffles, others through shared memory. All words are distinct, or
// equal ones are alike, so that it does not matter that the network is not stable.
#pragma once

namespace twinloom::device {

template <int items, class Word>
class RowNetwork {
  static_assert(items >= 2 && (items & (items - 1)) == 0, "runs are halved");

 public:
  // `shared` has room for the words of all threads of the block. Where a row has more threads than a warp,
  // all threads of the block call it.
  TWINLOOM_INLINE RowNetwork(Word (&words)[u32(items)], Word* shared) : words_(words), shared_(shared) {}

  // Word i of thread t is then number t*items + i of the row.
  TWINLOOM_INLINE void sort(int threads) {
    sort_own<0, items>();
    TWINLOOM_ROLLED
    for (int run = 2; run <= threads; run *= 2) {
      exchange<true>(run - 1, run / 2);
      TWINLOOM_ROLLED
      for (int distance = run / 4; distance >= 1; distance /= 2) exchange<false>(distance, distance);
      merge_own<items / 2>();
    }
  }

 private:
  TWINLOOM_INLINE void order(Word& first, Word& second) {
    const bool swaps = second < first;
    const Word low = swaps ? second : first, high = swaps ? first : second;
    first = low, second = high;
  }
  template <int begin, int count>
  TWINLOOM_INLINE void sort_own() {
    if constexpr (count > 1) {
      sort_own<begin, count / 2>();
      sort_own<begin + count / 2, count / 2>();
      merge_sorted<begin, count, 1>();
    }
  }
  // Two sorted halves, of which every word at this distance counts.
  template <int begin, int count, int distance>
  TWINLOOM_INLINE void merge_sorted() {
    if constexpr (2 * distance < count) {
      merge_sorted<begin, count, 2 * distance>();
      merge_sorted<begin + distance, count, 2 * distance>();
      TWINLOOM_UNROLL
      for (int i = begin + distance; i + distance < begin + count; i += 2 * distance)
        order(words_[i], words_[i + distance]);
    } else {
      order(words_[begin], words_[begin + distance]);
    }
  }
  template <int distance>
  TWINLOOM_INLINE void merge_own() {
    if constexpr (distance >= 1) {
      TWINLOOM_UNROLL
      for (int i = 0; i < items; ++i)
        if ((i & distance) == 0) order(words_[i], words_[i + distance]);
      merge_own<distance / 2>();
    }
  }

  // Keeps the lesser or the greater ones of this thread's words and those of the thread whose number differs
  // by `mask`; the one that has the bit keeps the greater ones.
  template <bool is_mirrored>
  TWINLOOM_INLINE void exchange(int mask, int bit) {
    const bool keeps_greater = (int(threadIdx.x) & bit) != 0;
    if (mask >= 32) {
      __syncthreads();
      TWINLOOM_UNROLL
      for (int i = 0; i < items; ++i) shared_[u32(i) * blockDim.x + threadIdx.x] = words_[i];
      __syncthreads();
    }
    TWINLOOM_UNROLL
    for (int i = 0; i < items / 2; ++i) {
      const int mirrored = items - 1 - i, first = is_mirrored ? mirrored : i,
                second = is_mirrored ? i : mirrored;
      const Word others[2] = {from_thread(first, mask), from_thread(second, mask)};
      words_[i] = kept(words_[i], others[0], keeps_greater);
      words_[mirrored] = kept(words_[mirrored], others[1], keeps_greater);
    }
  }
  TWINLOOM_INLINE Word from_thread(int i, int mask) const {
    if (mask < 32) return Word(__shfl_xor_sync(WHOLE_WARP, words_[i], mask));
    return shared_[u32(i) * blockDim.x + (threadIdx.x ^ u32(mask))];
  }
  TWINLOOM_INLINE static Word kept(Word own, Word other, bool keeps_greater) {
    return (other < own) != keeps_greater ? other : own;
  }

  Word (&words_)[u32(items)];
  Word* shared_;
};

}  // namespace twinloom::device
