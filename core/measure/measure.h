// How long work takes, and how fast this machine copies memory. Times are in seconds, sizes in bytes,
// bandwidths in bytes a second (10^9 of them are a GB/s).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "core/runtime/tensor.h"

namespace twinloom::measure {

// When a measurement has been repeated enough: `seconds` are over, after `least` runs at the earliest
// and `most` runs at the latest. The first `warm_up` runs are not counted.
struct Enough {
  int warm_up = 1;
  int least = 5;
  int most = 1000;
  double seconds = 0.5;
};

// The duration of each run, in order.
std::vector<double> repeat(const Enough& enough, const std::function<void()>& work);

// Of the durations, or any other numbers; of an even count the mean of the middle two. Bug for none.
double median(std::vector<double> numbers);
double least(const std::vector<double>& numbers);
// The number that a share 0 <= q <= 1 of all lies below; between two it is interpolated. Bug for none.
double quantile(std::vector<double> numbers, double q);

// Copies one buffer of its own to another, divided evenly among `threads` (0: one a core).
class CopyWork {
 public:
  enum class Way : std::uint8_t { memcpy, streaming_stores };  // the latter go past the caches
  static constexpr std::array ways = {Way::memcpy, Way::streaming_stores};
  static std::string_view name(Way way);
  CopyWork(std::int64_t buffer_bytes, int threads);
  void run(Way way) const;

 private:
  runtime::Tensor from_, to_;
  int threads_;
};

struct CopyBandwidth {
  double bytes_per_second = 0;    // of the best run of the best way; a byte read and written counts as two
  std::string_view way;           // "memcpy" or "streaming stores"
  std::int64_t buffer_bytes = 0;  // of one of the two buffers
};

// The best of memcpy and of a copy by stores that go past the caches, each divided evenly among
// `threads` (0: one a core), over buffers of at least 4 times the last-level cache and at most 1 GiB.
CopyBandwidth copy_bandwidth(int threads);

// The median of copies within the memory of a GPU, by its own clock; `way` is "device copy".
CopyBandwidth copy_bandwidth(const runtime::Space& space);

// Of the whole last-level cache; 32 MiB where the system does not say.
std::int64_t last_level_cache_bytes();

}  // namespace twinloom::measure
