// What memory can give at best: the yardstick of `twinloom bench`. See measure.h.
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "core/measure/measure.h"

namespace twinloom::measure {

namespace {

using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

void copy_plain(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

#if defined(__x86_64__)
// Both addresses and the count are multiples of 64.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + at);
    auto* target = reinterpret_cast<__m128i*>(to + at);
    for (int quarter = 0; quarter < 4; ++quarter)
      _mm_stream_si128(target + quarter, _mm_load_si128(source + quarter));
  }
  _mm_sfence();
}
#else
constexpr Copy copy_streaming = copy_plain;
#endif

// Each worker copies one part; the caller's thread is one of them.
void copy_divided(Copy copy, std::byte* to, const std::byte* from, std::size_t bytes, int threads) {
  const auto workers = static_cast<std::size_t>(threads);
  const std::size_t part = bytes / workers / 64 * 64;
  std::vector<std::jthread> others;
  for (std::size_t w = 1; w < workers; ++w) {
    const std::size_t begin = w * part;
    others.emplace_back(copy, to + begin, from + begin, w + 1 == workers ? bytes - begin : part);
  }
  copy(to, from, workers == 1 ? bytes : part);
}

constexpr std::int64_t most_buffer_bytes = std::int64_t{1} << 30;
constexpr std::int64_t caches_a_buffer = 4;

}  // namespace

std::int64_t last_level_cache_bytes() {
  constexpr std::int64_t usual = std::int64_t{32} << 20;
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return bytes;
  }
#endif
  return usual;
}

std::string_view CopyWork::name(Way way) { return way == Way::memcpy ? "memcpy" : "streaming stores"; }

CopyWork::CopyWork(std::int64_t buffer_bytes, int threads)
    : from_(runtime::allocate(ops::DType::u8, {(buffer_bytes + 63) / 64 * 64})),
      to_(runtime::allocate(ops::DType::u8, from_.sizes)),
      threads_(threads > 0 ? threads : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))) {
  const auto bytes = static_cast<std::size_t>(from_.sizes.front());
  std::memset(from_.data, 1, bytes);
  std::memset(to_.data, 2, bytes);
}

void CopyWork::run(Way way) const {
  copy_divided(way == Way::memcpy ? copy_plain : copy_streaming, static_cast<std::byte*>(to_.data),
               static_cast<const std::byte*>(from_.data), static_cast<std::size_t>(from_.sizes.front()),
               threads_);
}

CopyBandwidth copy_bandwidth(int threads) {
  CopyBandwidth best;
  best.buffer_bytes = std::min(caches_a_buffer * last_level_cache_bytes(), most_buffer_bytes) / 64 * 64;
  const CopyWork work(best.buffer_bytes, threads);
  for (const CopyWork::Way way : CopyWork::ways) {
    const auto durations = repeat({1, 5, 50, 0.4}, [&] { work.run(way); });
    const double bandwidth = 2 * static_cast<double>(best.buffer_bytes) / least(durations);
    if (bandwidth > best.bytes_per_second) best.bytes_per_second = bandwidth, best.way = CopyWork::name(way);
  }
  return best;
}

}  // namespace twinloom::measure
