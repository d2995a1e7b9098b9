// See candidates.h.
#include "core/fuse/candidates.h"

#include <algorithm>

#include "core/lower/realize.h"

namespace twinloom::fuse {

using lower::ValueId;

namespace {

double bytes_of(const lower::Value& value, const Limits& limits) {
  return lower::typical_count(value.shape, static_cast<double>(limits.typical_size)) *
         static_cast<double>(ops::bits_of(value.dtype)) / 8;
}

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
  std::vector<Touch> touches;
  for (std::size_t k = 0; k < unit.arguments.size(); ++k)
    touches.push_back({unit.arguments[k], unit.nest.buffers[k].written});
  std::ranges::sort(touches, {}, &Touch::id);
  return touches;
}

// Those that touch a buffer of the unit and with which it may save something, each once.
std::vector<std::size_t> Candidates::partners_of(std::size_t slot) const {
  const Around& around = units_.around();
  std::vector<std::size_t> partners;
  for (const auto& [id, written] : touches_[slot]) {
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
    const bool vanishes = flows && readers == 1 && around.lowered[a.id].storage == lower::Storage::temporary;
    scored.saved += bytes_[a.id.index] * (vanishes ? 2 : 1);
  }
  return scored;
}

void Candidates::add(const Slots& slots) {
  Scored scored = score(slots);
  const auto [known, fresh] = scored_pairs_.try_emplace(slots);
  if (!fresh) waiting_.erase({known->second.saved, slots});
  waiting_.insert({scored.saved, slots});
  known->second = std::move(scored);
  partners_[slots.first].insert(slots.second);
  partners_[slots.second].insert(slots.first);
}

void Candidates::remove(const Slots& slots) {
  const auto known = scored_pairs_.find(slots);
  if (known == scored_pairs_.end()) return;
  waiting_.erase({known->second.saved, slots});
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
    for (const auto& [id, written] : touches_[slot])
      if (!written) ++gone[id];
  remove_all_of(first);
  remove_all_of(second);
  touches_[first] = touches_of(first);
  touches_[second].clear();
  for (const std::size_t partner : partners_of(first)) add(slots_of(first, partner));
  for (const auto& [id, written] : touches_[first])
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
  for (const auto& [slots, scored] : scored_pairs_) keys.push_back({scored.saved, slots});
  std::ranges::sort(keys, std::less<>());
  std::vector<std::pair<Candidate, std::optional<Refused>>> result;
  for (const Key& key : keys) {
    const Scored& scored = scored_pairs_.at(key.slots);
    result.emplace_back(candidate_of(key.slots, scored), scored.refused);
  }
  return result;
}

}  // namespace twinloom::fuse
