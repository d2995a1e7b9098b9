// See plan.h.
#include "core/runtime/plan.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::runtime {

namespace {

struct Life {
  std::vector<std::size_t> values;  // one after the other
  std::int64_t bytes;
  std::size_t first, last;  // steps
  std::int64_t offset = 0;
};

// The life of what the step writes goes on that of what it reads in place, for the last time.
void join(const Step& step, std::size_t at, const loops::InPlace& pair, std::vector<Life>& lives) {
  const auto life_of = [&](loops::Buffer buffer) {
    const std::size_t value = step.arguments[buffer.index].index;
    return std::ranges::find_if(
        lives, [&](const Life& life) { return std::ranges::find(life.values, value) != life.values.end(); });
  };
  const auto read = life_of(pair.from), written = life_of(pair.to);
  if (read == lives.end() || written == lives.end() || read->last != at || written->first != at ||
      read->bytes != written->bytes ||
      std::ranges::count(step.arguments, step.arguments[pair.from.index]) != 1)
    return;
  read->last = written->last;
  read->values.insert(read->values.end(), written->values.begin(), written->values.end());
  lives.erase(written);
}

std::vector<Life> lives_of(const Variant& variant, const index::Values& sizes, const Once& once,
                           const InPlaceSteps& in_place) {
  std::vector<std::size_t> first(variant.values.size(), variant.steps.size()), last(variant.values.size(), 0);
  for (std::size_t s = 0; s < variant.steps.size(); ++s) {
    if (once.steps[s]) continue;
    for (const lower::ValueId id : variant.steps[s].arguments) {
      first[id.index] = std::min(first[id.index], s);
      last[id.index] = s;
    }
  }
  std::vector<Life> lives;
  for (std::size_t v = 0; v < variant.values.size(); ++v) {
    const lower::Value& value = variant.values[v];
    if (value.storage != lower::Storage::temporary || once.kept[v]) continue;
    const auto bytes = checked_multiply(index::evaluate(value.count, sizes), ops::size_of(value.dtype));
    if (!bytes)
      throw Error(
          cat("an intermediate result of ", ops::name(value.dtype), " has more bytes than 64 bits count"));
    const std::int64_t rounded = ceil_div(*bytes, MEMORY_ALIGNMENT) * MEMORY_ALIGNMENT;
    if (first[v] <= last[v]) lives.push_back({{v}, rounded, first[v], last[v]});
  }
  for (std::size_t s = 0; s < in_place.size(); ++s)
    for (const loops::InPlace& pair : in_place[s]) join(variant.steps[s], s, pair, lives);
  return lives;
}

// The lowest offset at which `life` overlaps none of the placed ones that live with it.
std::int64_t lowest_free(const Life& life, const std::vector<Life>& placed) {
  std::vector<const Life*> others;
  for (const Life& other : placed) {
    if (other.first <= life.last && life.first <= other.last) others.push_back(&other);
  }
  std::ranges::sort(others, {}, &Life::offset);
  std::int64_t offset = 0;
  for (const Life* other : others) {
    if (offset + life.bytes <= other->offset) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace

MemoryPlan plan_memory(const Variant& variant, const index::Values& sizes, const Once& once,
                       const InPlaceSteps& in_place) {
  MemoryPlan plan;
  plan.offsets.assign(variant.values.size(), -1);
  std::vector<Life> lives = lives_of(variant, sizes, once, in_place);
  std::ranges::stable_sort(lives, std::ranges::greater(), &Life::bytes);
  std::vector<Life> placed;
  for (Life& life : lives) {
    life.offset = lowest_free(life, placed);
    const auto end = checked_add(life.offset, life.bytes);
    if (!end) throw Error("the intermediate results need more bytes than 64 bits count");
    plan.bytes = std::max(plan.bytes, *end);
    for (const std::size_t value : life.values) plan.offsets[value] = life.offset;
    placed.push_back(life);
  }
  return plan;
}

}  // namespace twinloom::runtime
