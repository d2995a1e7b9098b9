// See footprint.h.
#include "core/cost/footprint.h"

#include <algorithm>
#include <cmath>

namespace twinloom::cost {

namespace {

// Bytes by access, of one node or of a part of it.
using ByAccess = std::map<std::size_t, double>;

// Lines of distinct memory that an access touches while these loops run, as bytes. Loops with small strides
// first: as long as the next one leaves no gap of a line, the run grows; then there are several runs.
double lines_of(const Access& access, const std::vector<Step>& moving, double line_bytes) {
  std::vector<Step> steps = moving;
  std::ranges::sort(steps, {}, [](const Step& step) { return std::abs(step.stride); });
  double run = access.bytes, runs = 1;
  if (access.found) {
    for (const Step& step : steps) runs *= step.iterations;
    return std::min(runs * std::max(line_bytes, run), access.most_bytes);
  }
  for (const Step& step : steps) {
    const double stride = std::abs(step.stride);
    if (stride == 0 || step.iterations <= 1) continue;
    if (runs == 1 && stride <= std::max(run, line_bytes))
      run += (step.iterations - 1) * stride;
    else
      runs *= step.iterations;
  }
  const double lines = run <= line_bytes ? 1 : std::ceil(run / line_bytes);
  return std::min(runs * lines * line_bytes, std::max(access.most_bytes, line_bytes));
}

class Tracker {
 public:
  Tracker(const Walk& walk, const Cache& cache) : walk_(walk), cache_(cache) {}

  double all() const { return sum(touched(0, true)); }

  Traffic run() const {
    Traffic traffic;
    for (const auto& [access, bytes] : moved(0))
      (walk_.accesses[access].store ? traffic.written : traffic.read) += bytes;
    return traffic;
  }

 private:
  // Whether the loop of `inner` is that of `node` or inside it.
  bool is_inside(std::size_t inner, std::size_t node) const {
    for (std::size_t at = inner;; at = walk_.nodes[at].parent) {
      if (at == node) return true;
      if (at == 0) return false;
    }
  }

  // Distinct bytes of one iteration of the node (with_loop: of all of them), by access; accesses of one
  // buffer that touch the same memory share it.
  ByAccess touched(std::size_t node, bool with_loop) const {
    ByAccess result;
    for (std::size_t k = 0; k < walk_.accesses.size(); ++k) {
      const Access& access = walk_.accesses[k];
      if (access.place != loops::Place::memory || !is_inside(access.node, node)) continue;
      result[k] = lines_of(access, moving_in(access, node, with_loop), cache_.line_bytes) * access.share;
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
    step.iterations = std::clamp(std::ceil(iterations / step.below), 1.0, step.iterations);
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
        const double span = span_of(moving_in(a, node, with_loop), a.bytes);
        const bool same = !a.found && std::abs(earlier->second - later->second) <= 0.25 * later->second;
        if (same && apart < span) later->second = std::min(later->second, apart);
      }
    }
  }
  static double span_of(const std::vector<Step>& moving, double bytes) {
    double span = bytes;
    for (const Step& step : moving) span += (step.iterations - 1) * std::abs(step.stride);
    return span;
  }

  static double sum(const ByAccess& bytes) {
    double total = 0;
    for (const auto& [access, each] : bytes) total += each;
    return total;
  }

  bool fits(const ByAccess& bytes, std::size_t node, bool with_loop) const {
    if (sum(bytes) > cache_.bytes) return false;
    if (cache_.set_pitch == 0) return true;
    return std::ranges::none_of(bytes, [&](const auto& one) {
      return crowds_a_set(moving_in(walk_.accesses[one.first], node, with_loop));
    });
  }
  // Lines a multiple of the pitch apart: more than a set holds push each other out.
  bool crowds_a_set(const std::vector<Step>& moving) const {
    double lines = 1;
    for (const Step& step : moving)
      if (step.stride != 0 && std::fmod(std::abs(step.stride), cache_.set_pitch) == 0)
        lines *= step.iterations;
    return lines > cache_.ways;
  }

  // What one execution of the node with its loop moves.
  ByAccess moved(std::size_t node) const {
    const double iterations = walk_.nodes[node].loop ? iterations_of(*walk_.nodes[node].loop) : 1;
    ByAccess whole = touched(node, true);
    if (fits(whole, node, true)) return whole;
    ByAccess once = touched(node, false);
    if (fits(once, node, false)) return whole;
    // Not even one iteration stays: its parts follow one another.
    ByAccess parts;
    for (const std::size_t child : walk_.nodes[node].children)
      for (const auto& [access, bytes] : moved(child)) parts[access] += bytes;
    for (const std::size_t access : walk_.nodes[node].accesses)
      if (once.contains(access)) parts[access] += once[access];
    for (auto& [access, bytes] : parts) bytes *= iterations;
    return parts;
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

Traffic traffic_of(const Walk& walk, const Cache& cache) { return Tracker(walk, cache).run(); }

}  // namespace twinloom::cost
