// See candidates.h.
#include "core/fuse/candidates.h"

#include <algorithm>
#include <limits>

#include "core/fuse/forward.h"
#include "core/lower/realize.h"

namespace twinloom::fuse {

using lower::ValueId;

double bytes_of(const lower::Value& value, const Limits& limits) {
  return lower::typical_count(value.shape, static_cast<double>(limits.typical_size)) *
         static_cast<double>(ops::bits_of(value.dtype)) / 8;
}

namespace {

// How often a nest loads or stores an element of each buffer, typically. A sort touches all of them.
class Accesses {
 public:
  Accesses(const loops::Program& nest, const Limits& limits)
      : counts_(nest.buffers.size(), 0), typical_(static_cast<double>(limits.typical_size)) {
    walk(*nest.body, 1);
  }
  double of(std::size_t argument) const { return counts_[argument]; }

 private:
  void walk(const loops::Stmt& stmt, double times) {
    if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
      for (const loops::Ref<loops::Stmt>& inner : block->stmts) walk(*inner, times);
    } else if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
      walk(*loop->body, times * lower::typical_count({loop->extent}, typical_));
    } else if (std::holds_alternative<loops::Call>(stmt.node)) {
      std::ranges::fill(counts_, std::numeric_limits<double>::infinity());
    } else {
      if (const auto* store = std::get_if<loops::Store>(&stmt.node)) add(store->buffer, times);
      for (const loops::Load& load : loads_of(stmt)) add(load.buffer, times);
    }
  }
  void add(loops::Buffer buffer, double times) {
    if (buffer.index < counts_.size()) counts_[buffer.index] += times;
  }

  std::vector<double> counts_;  // by argument
  double typical_;
};

}  // namespace

Candidates::Candidates(const Units& units) : units_(units), partners_(units.slots()) {
  for (const lower::Value& value : units.around().lowered.values)
    bytes_.push_back(bytes_of(value, units.around().limits));
  for (std::size_t slot = 0; slot < units.slots(); ++slot) touches_.push_back(touches_of(slot));
  for (std::size_t slot = 0; slot < units.slots(); ++slot)
    for (const std::size_t partner : partners_of(slot))
      if (slot < partner) add({slot, partner});
}

std::vector<Candidates::Touch> Candidates::touches_of(std::size_t slot) const {
  const lower::Unit& unit = units_[slot];
  const lower::Lowered& lowered = units_.around().lowered;
  const Accesses accesses(unit.nest, units_.around().limits);
  std::vector<Touch> touches;
  for (std::size_t k = 0; k < unit.arguments.size(); ++k) {
    const lower::ValueId id = unit.arguments[k];
    const double bytes = accesses.of(k) * static_cast<double>(ops::bits_of(lowered[id].dtype)) / 8;
    touches.push_back({id, unit.nest.buffers[k].written, std::min(bytes, bytes_[id.index])});
  }
  std::ranges::sort(touches, {}, &Touch::id);
  return touches;
}

// Those that touch a buffer of the unit and with which it may save something, each once.
std::vector<std::size_t> Candidates::partners_of(std::size_t slot) const {
  const Around& around = units_.around();
  std::vector<std::size_t> partners;
  for (const auto& [id, written, bytes] : touches_[slot]) {
    const auto& readers = around.readers[id.index];
    const auto& writers = around.writers[id.index];
    if (!written) partners.insert(partners.end(), writers.begin(), writers.end());
    if (written || readers.size() <= around.limits.most_readers)
      partners.insert(partners.end(), readers.begin(), readers.end());
  }
  std::ranges::sort(partners);
  const auto repeated = std::ranges::unique(partners);
  partners.erase(repeated.begin(), repeated.end());
  std::erase(partners, slot);
  return partners;
}

Candidates::Scored Candidates::score(const Slots& slots) const {
  ++scored_;
  const Around& around = units_.around();
  Scored scored;
  bool any = false;
  double flowing = 0;
  auto b = touches_[slots.second].begin();
  for (const Touch& a : touches_[slots.first]) {
    while (b != touches_[slots.second].end() && b->id < a.id) ++b;
    if (b == touches_[slots.second].end()) break;
    const std::size_t readers = around.readers[a.id.index].size();
    if (b->id != a.id) continue;
    if (a.written && b->written) {
      const bool adds = std::ranges::any_of(around.readers[a.id.index], [&](std::size_t reader) {
        return reader == slots.first || reader == slots.second;
      });
      if (adds && !std::exchange(any, true)) scored.buffer = a.id;
      continue;
    }
    const bool flows = a.written || b->written;
    if (!flows && readers > around.limits.most_readers) continue;
    if (!std::exchange(any, true)) scored.buffer = a.id;
    if (flows) flowing += std::min(a.bytes, b->bytes);
    const bool vanishes = flows && readers == 1 && around.lowered[a.id].storage == lower::Storage::temporary;
    scored.saved += std::min(a.bytes, b->bytes) + (vanishes ? bytes_[a.id.index] : 0);
  }
  scored.flows = flowing >= around.limits.least_flow;
  return scored;
}

void Candidates::add(const Slots& slots) {
  Scored scored = score(slots);
  const auto [known, fresh] = scored_pairs_.try_emplace(slots);
  if (!fresh) waiting_.erase(key_of(slots, known->second));
  waiting_.insert(key_of(slots, scored));
  known->second = std::move(scored);
  partners_[slots.first].insert(slots.second);
  partners_[slots.second].insert(slots.first);
}

void Candidates::remove(const Slots& slots) {
  const auto known = scored_pairs_.find(slots);
  if (known == scored_pairs_.end()) return;
  waiting_.erase(key_of(slots, known->second));
  scored_pairs_.erase(known);
}

void Candidates::remove_all_of(std::size_t slot) {
  for (const std::size_t partner : partners_[slot]) {
    remove(slots_of(slot, partner));
    partners_[partner].erase(slot);
  }
  partners_[slot].clear();
}

void Candidates::add_readers(ValueId id) {
  const auto& readers = units_.around().readers[id.index];
  for (const std::size_t a : readers)
    for (const std::size_t b : readers)
      if (a < b) add({a, b});
}

// Whether a fusion pays depends on how many readers a buffer has only where it is one: the fused unit.
void Candidates::update(std::size_t first, std::size_t second) {
  std::map<ValueId, std::ptrdiff_t> gone;  // readers
  for (const std::size_t slot : {first, second})
    for (const auto& [id, written, bytes] : touches_[slot])
      if (!written) ++gone[id];
  remove_all_of(first);
  remove_all_of(second);
  touches_[first] = touches_of(first);
  touches_[second].clear();
  for (const std::size_t partner : partners_of(first)) add(slots_of(first, partner));
  for (const auto& [id, written, bytes] : touches_[first])
    if (!written) --gone[id];
  for (const auto& [id, fewer] : gone) {
    const auto left = std::ssize(units_.around().readers[id.index]);
    const auto most = static_cast<std::ptrdiff_t>(units_.around().limits.most_readers);
    if (left <= most && left + fewer > most) add_readers(id);
  }
}

std::optional<Candidate> Candidates::take_best() {
  if (waiting_.empty()) return std::nullopt;
  const Slots slots = waiting_.begin()->slots;
  waiting_.erase(waiting_.begin());
  return candidate_of(slots, scored_pairs_.at(slots));
}

void Candidates::refuse(const Candidate& candidate, Reason reason, std::string words) {
  Scored& scored = scored_pairs_.at(slots_of(candidate.first, candidate.second));
  scored.refused = Refused{reason, std::move(words)};
}

Candidate Candidates::candidate_of(const Slots& slots, const Scored& scored) const {
  const bool as_they_are = units_.comes_before(slots.first, slots.second);
  return {as_they_are ? slots.first : slots.second, as_they_are ? slots.second : slots.first, scored.buffer};
}

std::vector<std::pair<Candidate, std::optional<Candidates::Refused>>> Candidates::all() const {
  std::vector<Key> keys;
  for (const auto& [slots, scored] : scored_pairs_) keys.push_back(key_of(slots, scored));
  std::ranges::stable_sort(keys, std::greater<>(), &Key::saved);
  std::vector<std::pair<Candidate, std::optional<Refused>>> result;
  for (const Key& key : keys) {
    const Scored& scored = scored_pairs_.at(key.slots);
    result.emplace_back(candidate_of(key.slots, scored), scored.refused);
  }
  return result;
}

}  // namespace twinloom::fuse
