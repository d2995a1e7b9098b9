// See footprint.h.
#include "core/cost/footprint.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/cost/constants.h"

namespace twinloom::cost {

namespace {

using constants::STREAMS;

// Bytes by access, of one node or of a part of it.
using ByAccess = std::map<std::size_t, double>;

// Lines of distinct memory that an access touches while these loops run, and the sets of a cache, `pitch`
// bytes each way, that they fall into. Loops with small strides first: as long as the next one leaves no gap
// of a line, the run grows; then there are several runs.
struct Lines {
  double count = 1, sets = 1;
  double times = 1;  // that what runs of neighbours share is touched: masked, it is still touched by others
};
Lines lines_of(const Access& access, std::vector<Step> steps, const Cache& cache, double pitch) {
  const double line_bytes = cache.line_bytes;
  std::ranges::sort(steps, {}, [](const Step& step) { return std::abs(step.stride); });
  double run = access.bytes, runs = 1, residues = 1, jumps = 1, times = 1;
  for (const Step& step : steps) {
    const double stride = std::abs(step.stride);
    // To places that only the run knows.
    const bool jumps_on = access.found && (stride == 0 || (cache.found_alone && access.listed));
    if (jumps_on) jumps *= step.iterations;
    if (jumps_on || stride == 0 || step.iterations <= 1) continue;
    if (runs == 1 && stride <= std::max(run, line_bytes)) {
      times *= std::max(1.0, run / stride);
      run += (step.iterations - 1) * stride;
      continue;
    }
    runs *= step.iterations;
    if (pitch == 0) continue;
    const auto shared = std::gcd(static_cast<std::int64_t>(stride), static_cast<std::int64_t>(pitch));
    residues *= std::min(step.iterations, pitch / static_cast<double>(shared));
  }
  const double lines = run <= line_bytes ? 1 : std::ceil(run / line_bytes);
  const double most = access.found ? access.most_bytes : std::max(access.most_bytes, line_bytes);
  return {std::min(jumps * runs * lines * line_bytes, most) / line_bytes,
          std::min(access.found ? pitch : residues * lines * line_bytes, pitch) / line_bytes, times};
}

class Tracker {
 public:
  Tracker(const Walk& walk, const Cache& cache) : walk_(walk), cache_(cache) {}

  double all() const { return sum(touched(0, true)); }

  Traffic run() const {
    Traffic traffic;
    for (const auto& [number, bytes] : moved(0)) {
      const Access& access = walk_.accesses[number];
      if (access.streamed && cache_.streams) continue;
      (access.store ? traffic.written : traffic.read) += std::max(bytes, in_parts(number));
      const Order order = order_of(access);
      if (order == Order::jumping) traffic.jumping += bytes;
      if (order == Order::paging) traffic.paging += bytes;
    }
    return traffic;
  }

 private:
  double in_parts(std::size_t access) const {
    const auto parts = cache_.in_parts.find(access);
    const bool has_room = walk_.accesses[access].most_bytes <= cache_.bytes;
    return parts == cache_.in_parts.end() || has_room ? 0 : parts->second;
  }
  // Whether the loop of `inner` is that of `node` or inside it.
  bool is_inside(std::size_t inner, std::size_t node) const {
    for (std::size_t at = inner;; at = walk_.nodes[at].parent) {
      if (at == node) return true;
      if (at == 0) return false;
    }
  }

  // Whether all loops around usually have iterations: the units of a list are mostly none.
  bool is_reached(std::size_t node) const {
    for (; node != 0; node = walk_.nodes[node].parent)
      if (walk_.loops[*walk_.nodes[node].loop].extent <= 0) return false;
    return true;
  }

  // Distinct bytes of one iteration of the node (with_loop: of all of them), by access; accesses of one
  // buffer that touch the same memory share it.
  ByAccess touched(std::size_t node, bool with_loop) const {
    ByAccess result;
    for (std::size_t k = 0; k < walk_.accesses.size(); ++k) {
      const Access& access = walk_.accesses[k];
      if (access.place != loops::Place::memory || !is_inside(access.node, node)) continue;
      if (!is_reached(access.node)) continue;
      const Lines lines = lines_of(access, moving_in(access, node, with_loop), cache_, 0);
      result[k] = lines.count * cache_.line_bytes * std::min(1.0, access.share * lines.times);
    }
    share_equal(result, node, with_loop);
    return result;
  }
  std::vector<Step> moving_in(const Access& access, std::size_t node, bool with_loop) const {
    std::vector<Step> moving;
    for (const Step& step : access.steps) {
      const std::size_t of = walk_.loops[step.loop].node;
      const bool inside = is_inside(of, node) && (with_loop || of != node);
      const auto together = cache_.together.find(step.loop);
      if (inside)
        moving.push_back(step);
      else if (together != cache_.together.end() && together->second > 1)
        moving.push_back(limited(step, together->second));
    }
    return moving;
  }
  // To so many iterations of the loop.
  static Step limited(Step step, double iterations) {
    step.iterations = std::clamp(iterations / step.below, 1.0, step.iterations);
    return step;
  }
  // The later of two accesses that touch the same bytes adds only what lies beyond.
  void share_equal(ByAccess& bytes, std::size_t node, bool with_loop) const {
    for (auto later = bytes.begin(); later != bytes.end(); ++later) {
      for (auto earlier = bytes.begin(); earlier != later; ++earlier) {
        const Access& a = walk_.accesses[earlier->first];
        const Access& b = walk_.accesses[later->first];
        if (a.buffer != b.buffer || a.found != b.found) continue;
        const double apart = std::abs(static_cast<double>(b.start - a.start));
        const double run = run_of(moving_in(a, node, with_loop), a.bytes);
        const bool same = !a.found && std::abs(earlier->second - later->second) <= 0.25 * later->second;
        if (same && apart < run) later->second = std::min(later->second, apart);
      }
    }
  }
  // Of neighbours, from the first one on: two parts of each row do not share it although their rows
  // alternate.
  double run_of(std::vector<Step> moving, double bytes) const {
    std::ranges::sort(moving, {}, [](const Step& step) { return std::abs(step.stride); });
    double run = bytes;
    for (const Step& step : moving)
      if (std::abs(step.stride) <= std::max(run, cache_.line_bytes))
        run += (step.iterations - 1) * std::abs(step.stride);
    return run;
  }

  static double sum(const ByAccess& bytes) {
    double total = 0;
    for (const auto& [access, each] : bytes) total += each;
    return total;
  }

  // More lines of one iteration in a set than its share of it holds push each other out.
  bool crowds_a_set(std::size_t access, std::size_t node) const {
    if (cache_.set_pitch == 0) return false;
    const Access& crowding = walk_.accesses[access];
    const Lines lines = lines_of(crowding, moving_in(crowding, node, false), cache_, cache_.set_pitch);
    return lines.count > lines.sets * cache_.ways * constants::SET_SHARE;
  }

  // Whether blocks come between one iteration of the node's loop and the next.
  bool is_of_blocks(std::size_t node) const {
    return std::ranges::any_of(walk_.nodes[node].children, [&](std::size_t child) {
      const auto& loop = walk_.nodes[child].loop;
      return loop && walk_.loops[*loop].bind == loops::Bind::block;
    });
  }

  // What one execution of the node with its loop moves.
  ByAccess moved(std::size_t node) const {
    const double iterations = walk_.nodes[node].loop ? iterations_of(*walk_.nodes[node].loop) : 1;
    ByAccess whole = touched(node, true), once;
    const double room = cache_.bytes * (is_of_blocks(node) ? cache_.of_blocks : 1);
    bool stays = sum(whole) <= room;
    if (!stays || cache_.set_pitch != 0) once = touched(node, false);
    stays = stays || sum(once) <= room;
    const auto is_kept = [&](const auto& one) { return stays && !crowds_a_set(one.first, node); };
    if (std::ranges::all_of(whole, is_kept)) return whole;
    // What does not stay for one iteration is moved by each of its parts.
    ByAccess parts;
    for (const std::size_t child : walk_.nodes[node].children)
      for (const auto& [access, bytes] : moved(child)) parts[access] += bytes * iterations;
    for (const std::size_t access : walk_.nodes[node].accesses)
      if (once.contains(access)) parts[access] += once[access] * iterations;
    for (const auto& one : whole)
      if (is_kept(one)) parts[one.first] = one.second;
    return parts;
  }
  // How lines follow one another: with their neighbours, or each at another place, or in another page.
  enum class Order : std::uint8_t { running, jumping, paging };
  Order order_of(const Access& access) const {
    const auto is_vector = [&](const Step& step) {
      return walk_.loops[step.loop].bind == loops::Bind::vector;
    };
    std::vector<Step> steps(access.steps.rbegin(), access.steps.rend());
    std::ranges::stable_partition(steps, is_vector);
    double run = access.bytes, streams = 1, longest = 0;
    for (const Step& step : steps) {
      const double stride = std::abs(step.stride);
      if (step.iterations <= 1) continue;
      if (stride == 0 && access.found) return run <= cache_.line_bytes ? Order::jumping : Order::running;
      if (stride <= std::max(run, cache_.line_bytes)) {
        run += (step.iterations - 1) * stride;
      } else {
        streams *= step.iterations, longest = std::max(longest, stride);
        if (streams > STREAMS) break;
      }
    }
    return run <= cache_.line_bytes && longest >= cache_.page_bytes ? Order::paging : Order::running;
  }
  // Of a loop whose iterations run together only the rounds count.
  double iterations_of(std::size_t loop) const {
    const auto together = cache_.together.find(loop);
    const double extent = walk_.loops[loop].extent;
    return together == cache_.together.end() ? extent : extent / std::max(together->second, 1.0);
  }

  const Walk& walk_;
  const Cache& cache_;
};

}  // namespace

double touched_by(const Walk& walk, double line_bytes) {
  Cache cache;
  cache.line_bytes = line_bytes;
  return Tracker(walk, cache).all() + walk.call_bytes;
}

double held_by(const Walk& walk, double line_bytes) {
  std::map<loops::Buffer, double> found;
  for (const Access& access : walk.accesses)
    if (access.found) found[access.buffer] = access.most_bytes;
  double bytes = touched_by(walk, line_bytes);
  for (const auto& [buffer, whole] : found) bytes += whole;
  return bytes;
}

double streamed_by(const Walk& walk) {
  double bytes = 0;
  for (const Access& access : walk.accesses)
    if (access.streamed) bytes += access.most_bytes;
  return bytes;
}

Traffic traffic_of(const Walk& walk, const Cache& cache) { return Tracker(walk, cache).run(); }

}  // namespace twinloom::cost
