// See fuse.h. The pair that saves most comes first, until no pair can be fused.
#include "core/fuse/fuse.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/fuse/columns.h"
#include "core/fuse/combine.h"
#include "core/lower/draft.h"
#include "core/lower/realize.h"

namespace twinloom::fuse {

using lower::ValueId;

namespace {

struct Pair {
  std::size_t first, second;
  double saved = 0;  // bytes that need not be moved
  ValueId buffer;    // one that both touch
};

class Fuser {
 public:
  Fuser(const lower::Lowered& lowered, const Limits& limits)
      : lowered_(lowered), limits_(limits), names_(lower::taken_symbols(lowered)) {
    for (std::size_t k = 0; k < lowered_.units.size(); ++k) ids_.push_back(next_id_++);
  }

  Fused run() {
    while (fuse_one()) {
    }
    while (put_columns_beside_rows()) {
    }
    std::vector<Refusal> refusals = explain();
    drop_unused_values();
    lower::name_kernels(lowered_);
    return {std::move(lowered_), std::move(refusals)};
  }

 private:
  double bytes_of(ValueId id) const {
    const lower::Value& value = lowered_[id];
    return lower::typical_count(value.shape, static_cast<double>(limits_.typical_size)) *
           static_cast<double>(ops::bits_of(value.dtype)) / 8;
  }

  // Every two units that touch a buffer, the writer first.
  std::vector<Pair> pairs(const Around& near) const {
    std::map<std::pair<std::size_t, std::size_t>, Pair> found;
    const auto add = [&](std::size_t first, std::size_t second, ValueId buffer, double saved) {
      if (first == second) return;
      Pair& pair = found.try_emplace({first, second}, Pair{first, second, 0, buffer}).first->second;
      pair.saved += saved;
    };
    for (std::uint32_t k = 0; k < lowered_.values.size(); ++k) {
      const double bytes = bytes_of(ValueId{k});
      const bool vanishes =
          lowered_.values[k].storage == lower::Storage::temporary && near.readers[k].size() == 1;
      for (const std::size_t writer : near.writers[k])
        for (const std::size_t reader : near.readers[k])
          add(writer, reader, ValueId{k}, bytes * (vanishes ? 2 : 1));
      for (const std::size_t a : near.readers[k])
        for (const std::size_t b : near.readers[k])
          if (a < b && near.readers[k].size() <= most_readers) add(a, b, ValueId{k}, bytes);
    }
    std::vector<Pair> sorted;
    for (const auto& [units, pair] : found) sorted.push_back(pair);
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &Pair::saved);
    return sorted;
  }

  // Which units come before each, through any number of others.
  std::vector<std::set<std::size_t>> all_before() const {
    const auto direct = lower::dependencies(lowered_);
    std::vector<std::set<std::size_t>> all(direct.size());
    for (std::size_t k = 0; k < direct.size(); ++k) {
      for (const std::size_t earlier : direct[k]) {
        CHECK(earlier < k, "unit ", k, " stands before what it needs");
        all[k].insert(earlier);
        all[k].insert(all[earlier].begin(), all[earlier].end());
      }
    }
    return all;
  }

  // A unit that needs the first and that the second needs.
  static bool stands_between(const std::vector<std::set<std::size_t>>& before, std::size_t first,
                             std::size_t second) {
    return std::ranges::any_of(before[second],
                               [&](std::size_t middle) { return before[middle].contains(first); });
  }

  bool fuse_one() {
    const Around near = around(lowered_, limits_);
    const auto before = all_before();
    for (const Pair& pair : pairs(near)) {
      const std::pair key(ids_[pair.first], ids_[pair.second]);
      if (refused_.contains(key)) continue;
      if (before[pair.first].contains(pair.second) || stands_between(before, pair.first, pair.second))
        continue;
      Combined combined = combine(near, pair.first, pair.second, names_);
      if (combined.unit) {
        replace(pair, std::move(*combined.unit));
        // What did not pay may pay when a buffer has lost a reader.
        std::erase_if(refused_, [](const auto& entry) { return entry.second.reason == Reason::no_gain; });
        return true;
      }
      refused_.emplace(key, std::move(combined));
    }
    return false;
  }

  // Last, because nothing is fused with a unit that has totals of columns.
  bool put_columns_beside_rows() {
    const Around near = around(lowered_, limits_);
    const auto before = all_before();
    for (const Pair& pair : pairs(near)) {
      const auto known = refused_.find({ids_[pair.first], ids_[pair.second]});
      if (known == refused_.end() || known->second.reason != Reason::mixed_order) continue;
      if (before[pair.first].contains(pair.second) || stands_between(before, pair.first, pair.second))
        continue;
      if (has_columns(lowered_.units[pair.first]) || has_columns(lowered_.units[pair.second])) continue;
      if (!tried_.insert(known->first).second) continue;
      Combined one = in_one_pass(near, pair.first, pair.second, names_);
      if (one.unit) {
        replace(pair, std::move(*one.unit));
        return true;
      }
      known->second.words += cat("; ", one.words);
    }
    return false;
  }

  // Puts the fused unit in place of the two, and all units in an order in which they can run: each as early
  // as what it needs allows, else as they were.
  void replace(const Pair& pair, lower::Unit unit) {
    std::vector<lower::Unit> units;
    std::vector<std::size_t> ids;
    for (std::size_t k = 0; k < lowered_.units.size(); ++k) {
      if (k == pair.second) continue;
      units.push_back(k == pair.first ? std::move(unit) : std::move(lowered_.units[k]));
      ids.push_back(k == pair.first ? next_id_++ : ids_[k]);
    }
    lowered_.units = std::move(units);
    const auto needs = lower::dependencies(lowered_);
    std::vector<bool> done(needs.size(), false);
    std::vector<lower::Unit> ordered;
    ids_.clear();
    while (ordered.size() < needs.size()) {
      const std::size_t count = ordered.size();
      for (std::size_t k = 0; k < needs.size(); ++k) {
        if (done[k] || !std::ranges::all_of(needs[k], [&](std::size_t need) { return done[need]; })) continue;
        done[k] = true;
        ordered.push_back(std::move(lowered_.units[k]));
        ids_.push_back(ids[k]);
        break;
      }
      CHECK(ordered.size() > count, "fused units wait for each other");
    }
    lowered_.units = std::move(ordered);
  }

  std::vector<Refusal> explain() const {
    const Around near = around(lowered_, limits_);
    const auto before = all_before();
    std::vector<Refusal> refusals;
    for (const Pair& pair : pairs(near)) {
      if (before[pair.first].contains(pair.second)) continue;
      if (stands_between(before, pair.first, pair.second)) {
        refusals.push_back({pair.first, pair.second, pair.buffer, Reason::cycle,
                            "another kernel needs the first and is needed by the second"});
        continue;
      }
      const auto known = refused_.find({ids_[pair.first], ids_[pair.second]});
      if (known != refused_.end())
        refusals.push_back({pair.first, pair.second, pair.buffer, known->second.reason, known->second.words});
    }
    return refusals;
  }

  // Values that no unit touches any more take no memory; they stay in the table so that others keep theirs.
  void drop_unused_values() {
    std::set<ValueId> used;
    for (const lower::Unit& unit : lowered_.units) used.insert(unit.arguments.begin(), unit.arguments.end());
    for (std::uint32_t k = 0; k < lowered_.values.size(); ++k)
      if (lowered_.values[k].storage == lower::Storage::temporary && !used.contains(ValueId{k}))
        lowered_.values[k].count = 0;
  }

  static constexpr std::size_t most_readers = 16;  // a buffer that more kernels read brings no two together
  lower::Lowered lowered_;
  Limits limits_;
  lower::Names names_;
  std::vector<std::size_t> ids_;  // of units, never used again
  std::size_t next_id_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, Combined> refused_;
  std::set<std::pair<std::size_t, std::size_t>> tried_;  // whether they are rows and columns in one pass
};

}  // namespace

Fused fuse(const lower::Lowered& lowered, const Limits& limits) {
  Fused fused = Fuser(lowered, limits).run();
  lower::verify(fused.lowered);
  return fused;
}

}  // namespace twinloom::fuse
