// See fuse.h. The pair that saves most comes first, until no pair can be fused.
#include "core/fuse/fuse.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "core/fuse/align.h"
#include "core/fuse/candidates.h"
#include "core/fuse/columns.h"
#include "core/fuse/combine.h"
#include "core/fuse/forward.h"
#include "core/fuse/parts.h"
#include "core/fuse/times.h"
#include "core/fuse/units.h"
#include "core/lower/draft.h"
#include "core/lower/once.h"
#include "core/lower/share.h"

namespace twinloom::fuse {

using lower::ValueId;

namespace {

class Fuser {
 public:
  Fuser(const lower::Lowered& lowered, const Limits& limits)
      : units_(lowered, limits), names_(lower::taken_symbols(lowered)) {
    const std::vector<bool> once =
        limits.made_once ? lower::follows_from_arrays(lowered) : std::vector<bool>(lowered.units.size());
    for (std::size_t u = 0; u < once.size(); ++u)
      if (once[u])
        for (const ValueId id : lower::written_by({&lowered.units[u].nest, lowered.units[u].arguments}))
          made_once_.insert(id.index);
  }

  Fused run() {
    compute_few_again();
    candidates_.emplace(units_);
    while (const auto best = candidates_->take_best()) {
      if (units_.has_between(best->first, best->second)) continue;
      ++attempts_;
      try_to_fuse(*best, combine(units_.around(), best->first, best->second, names_));
    }
    refine_alone();
    put_columns_beside_rows();
    make_parts();
    return finished();
  }

 private:
  bool try_to_fuse(const Candidate& pair, Combined combined, bool may_hide_call = false) {
    if (combined.unit && !may_hide_call && hides_library_call({pair.first, pair.second}, *combined.unit))
      combined = {std::nullopt, Reason::library, "a library computes the product of one of them"};
    if (combined.unit && is_made_once(pair.first) != is_made_once(pair.second))
      combined = {std::nullopt, Reason::once, "one of them follows from arrays of the graph alone"};
    if (!combined.unit) {
      candidates_->refuse(pair, combined.reason, std::move(combined.words));
      return false;
    }
    units_.replace(pair.first, pair.second, std::move(*combined.unit));
    candidates_->update(pair.first, pair.second);
    return true;
  }

  bool hides_library_call(std::initializer_list<std::size_t> slots, const lower::Unit& unit) const {
    const auto& has_call = units_.around().limits.has_library_call;
    return has_call &&
           std::ranges::any_of(slots, [&](std::size_t slot) { return has_call(units_[slot].nest); }) &&
           !has_call(unit.nest);
  }

  bool is_made_once(std::size_t slot) const {
    const lower::Unit& unit = units_[slot];
    const std::vector<ValueId> written = lower::written_by({&unit.nest, unit.arguments});
    return std::ranges::any_of(written, [&](ValueId id) { return made_once_.contains(id.index); });
  }

  bool is_large_flow(const Candidate& pair) const {
    const Limits& limits = units_.around().limits;
    const lower::Unit &first = units_[pair.first], &second = units_[pair.second];
    double bytes = 0;
    for (std::size_t k = 0; k < first.arguments.size(); ++k) {
      const lower::Value& value = units_.around().lowered[first.arguments[k]];
      if (first.nest.buffers[k].written &&
          std::ranges::find(second.arguments, first.arguments[k]) != second.arguments.end())
        bytes += bytes_of(value, limits);
    }
    return bytes >= limits.large_flow;
  }

  // From the back, so that what is computed again is computed from memory that stays. A value that nobody
  // else reads is left to the fusion of the two.
  void compute_few_again() {
    for (std::size_t reader = units_.slots(); reader-- > 0;) {
      std::set<std::size_t> tried;
      for (auto writer = shared_writer(reader, tried); writer; writer = shared_writer(reader, tried)) {
        tried.insert(*writer);
        ++attempts_;
        auto unit = computing_few_again(units_.around(), *writer, reader, names_);
        if (unit && !hides_library_call({reader}, *unit)) units_.change(reader, std::move(*unit));
      }
    }
  }
  // The last unit, none of those that were tried, that writes what the reader loads and what stays without
  // it.
  std::optional<std::size_t> shared_writer(std::size_t reader, const std::set<std::size_t>& tried) const {
    const Around& around = units_.around();
    std::optional<std::size_t> last;
    for (const ValueId id : units_[reader].arguments) {
      const std::vector<std::size_t>& writers = around.writers[id.index];
      const bool stays = around.lowered[id].storage != lower::Storage::temporary;
      if ((around.readers[id.index].size() < 2 && !stays) || writers.size() != 1) continue;
      const std::size_t writer = writers.front();
      if (writer != reader && !tried.contains(writer) && (!last || *last < writer)) last = writer;
    }
    return last;
  }

  // As combine() does it: of copies that nothing was fused with, quotients and remainders become axes, so
  // that neighbours in memory are iterations of one loop. Short axes may be worse than quotients: where
  // seconds are known, they decide.
  void refine_alone() {
    for (std::size_t slot = 0; slot < units_.slots(); ++slot) {
      const lower::Unit& unit = units_[slot];
      if (unit.nest.body == nullptr || !unit.updates.empty() || !is_elementwise(loops::take_apart(unit.nest)))
        continue;
      Side side{lower::open(unit, names_), {}};
      side.facts = lower::facts_of(side.draft.nest, units_.around().lowered.facts);
      if (!refine(side, names_)) continue;
      lower::Unit refined = lower::finish(side.draft, units_.around().lowered);
      const auto& seconds = units_.around().limits.seconds_as_chosen;
      if (!seconds || seconds(refined.nest) < seconds(unit.nest)) units_.change(slot, std::move(refined));
    }
  }

  // Tries the pairs that are wanted, those that save most first, until none becomes one. What became one may
  // do so again.
  template <class Wanted, class Become>
  void try_pairs(const Wanted& wanted, const Become& become) {
    bool changed = true;
    for (std::set<std::pair<std::size_t, std::size_t>> tried; changed;) {
      changed = false;
      for (const auto& [pair, refused] : candidates_->all()) {
        if (!wanted(pair, refused) || units_.has_between(pair.first, pair.second) ||
            !tried.insert({pair.first, pair.second}).second)
          continue;
        ++attempts_;
        changed = become(pair, refused);
        if (!changed) continue;
        std::erase_if(tried, [&](const auto& other) {
          return other.first == pair.first || other.second == pair.first;
        });
        break;
      }
    }
  }

  // Last, because nothing but other columns is fused with a unit that has totals of columns.
  void put_columns_beside_rows() {
    std::set<std::size_t> slots;  // of units that have such totals
    const auto wanted = [&](const Candidate& pair, const auto& refused) {
      return slots.contains(pair.first) != slots.contains(pair.second) ||
             (refused && refused->reason == Reason::mixed_order);
    };
    try_pairs(wanted, [&](const Candidate& pair, const auto& refused) {
      Combined one = in_one_pass(units_.around(), pair.first, pair.second, names_);
      if (one.unit) {
        if (auto slower = clearly_slower({units_.around(), pair.first, pair.second}, one.unit->nest))
          one = Combined{std::nullopt, slower->reason, std::move(slower->words)};
      }
      if (!one.unit && refused) one.words = cat(refused->words, "; ", one.words);
      const bool is_one = try_to_fuse(pair, std::move(one));
      if (is_one) slots.insert(pair.first);
      return is_one;
    });
  }

  // Of neighbours that no loops can be found for. What became one may be a part again.
  void make_parts() {
    if (!units_.around().limits.seconds_in_parts) return;
    const auto any = [](const Candidate&, const auto&) { return true; };
    try_pairs(any, [&](const Candidate& pair, const auto& refused) {
      Combined one = in_parts(units_.around(), pair.first, pair.second, names_);
      if (refused) one.reason = refused->reason;
      if (refused) one.words = cat(refused->words, "; ", one.words);
      return try_to_fuse(pair, std::move(one), is_large_flow(pair));
    });
  }

  std::vector<Refusal> explain() const {
    std::vector<Refusal> refusals;
    for (const auto& [pair, refused] : candidates_->all()) {
      if (units_.has_between(pair.first, pair.second)) {
        refusals.push_back({pair.first, pair.second, pair.buffer, Reason::cycle,
                            "another kernel needs the first and is needed by the second"});
      } else if (refused) {
        refusals.push_back({pair.first, pair.second, pair.buffer, refused->reason, refused->words});
      }
    }
    return refusals;
  }

  Fused finished() {
    std::vector<Refusal> refusals = explain();
    const Effort effort{candidates_->scored(), attempts_, units_.visited()};
    auto [lowered, position] = units_.take();
    for (Refusal& refusal : refusals) {
      refusal.first = position[refusal.first];
      refusal.second = position[refusal.second];
    }
    drop_unused_values(lowered);
    lower::name_kernels(lowered);
    return {std::move(lowered), std::move(refusals), effort};
  }

  // Values that no unit touches any more take no memory; they stay in the table so that others keep theirs.
  static void drop_unused_values(lower::Lowered& lowered) {
    std::set<ValueId> used;
    for (const lower::Unit& unit : lowered.units) used.insert(unit.arguments.begin(), unit.arguments.end());
    for (std::uint32_t k = 0; k < lowered.values.size(); ++k)
      if (lowered.values[k].storage == lower::Storage::temporary && !used.contains(ValueId{k}))
        lowered.values[k].count = 0;
  }

  Units units_;
  lower::Names names_;
  std::optional<Candidates> candidates_;
  std::set<std::uint32_t> made_once_;  // values
  std::int64_t attempts_ = 0;
};

}  // namespace

Fused fuse(const lower::Lowered& lowered, const Limits& limits) {
  Fused fused = Fuser(lowered, limits).run();
  lower::verify(fused.lowered);
  return fused;
}

}  // namespace twinloom::fuse
