// Inside of the room: the pairs of units that touch one buffer, those that save most bytes first. Only what a
// fusion changes is scored again: the pairs of the fused unit, and those of a buffer that has few readers
// left.
#pragma once

#include <map>
#include <set>
#include <tuple>

#include "core/fuse/units.h"

namespace twinloom::fuse {

// Of the value's elements, with every size symbol taken for the typical one.
double bytes_of(const lower::Value& value, const Limits& limits);

struct Candidate {
  std::size_t first = 0, second = 0;  // slots; the first comes before the second
  lower::ValueId buffer;              // one that both touch
};

class Candidates {
 public:
  explicit Candidates(const Units& units);

  // The best that waits; it waits no longer.
  std::optional<Candidate> take_best();
  void refuse(const Candidate& candidate, Reason reason, std::string words);

  // After units.replace(first, second).
  void update(std::size_t first, std::size_t second);

  struct Refused {
    Reason reason;
    std::string words;
  };
  // Every pair with why it was refused, or nothing where it was not tried; those that save most first.
  std::vector<std::pair<Candidate, std::optional<Refused>>> all() const;
  // Pairs that were scored so far, with repetition.
  std::int64_t scored() const { return scored_; }

 private:
  using Slots = std::pair<std::size_t, std::size_t>;  // the smaller first
  struct Touch {
    lower::ValueId id;
    bool written;
    double bytes = 0;  // that it loads or stores there, typically, each once
  };
  struct Scored {
    bool flows = false;  // one stores what the other loads, and not little
    double saved = 0;    // bytes that need not be moved
    lower::ValueId buffer;
    std::optional<Refused> refused;
  };
  // Those between which much flows come first, as what they have in common they still have with others when
  // they are one; of these, those that save most. What little flows may lie between kernels.
  struct Key {
    bool flows;
    double saved;
    Slots slots;
    friend bool operator<(const Key& a, const Key& b) {
      return std::tuple(!a.flows, -a.saved, a.slots) < std::tuple(!b.flows, -b.saved, b.slots);
    }
  };
  static Slots slots_of(std::size_t a, std::size_t b) { return std::minmax(a, b); }
  static Key key_of(const Slots& slots, const Scored& scored) { return {scored.flows, scored.saved, slots}; }
  Candidate candidate_of(const Slots& slots, const Scored& scored) const;
  Scored score(const Slots& slots) const;
  std::vector<Touch> touches_of(std::size_t slot) const;
  std::vector<std::size_t> partners_of(std::size_t slot) const;
  void add(const Slots& slots);
  void remove(const Slots& slots);
  void remove_all_of(std::size_t slot);
  void add_readers(lower::ValueId id);

  const Units& units_;
  std::vector<double> bytes_;                // by value
  std::vector<std::vector<Touch>> touches_;  // by slot, ascending
  std::map<Slots, Scored> scored_pairs_;
  std::vector<std::set<std::size_t>> partners_;  // by slot
  std::set<Key> waiting_;
  mutable std::int64_t scored_ = 0;
};

}  // namespace twinloom::fuse
