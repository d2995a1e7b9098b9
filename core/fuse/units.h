// Inside of the room: the units while they are fused. Each stands in a slot that it keeps: two that are fused
// stand in the slot of the first, and that of the second is empty from then on. An order in which the units
// can run is kept up to date, so that what stands between two of them is found without a walk over all.
//   order  a b c d e,  d needs b;  a and d are fused  ->  b ad c e
#pragma once

#include <cstdint>
#include <vector>

#include "core/fuse/combine.h"

namespace twinloom::fuse {

class Units {
 public:
  Units(const lower::Lowered& lowered, const Limits& limits);
  Units(const Units&) = delete;
  Units& operator=(const Units&) = delete;

  const Around& around() const { return around_; }
  const lower::Unit& operator[](std::size_t slot) const { return lowered_.units[slot]; }
  std::size_t slots() const { return lowered_.units.size(); }
  bool comes_before(std::size_t a, std::size_t b) const { return order_[a] < order_[b]; }

  // Whether a third unit needs the first and is needed by the second, through any number of others. The first
  // comes before the second.
  bool has_between(std::size_t first, std::size_t second) const;
  // Nothing may stand between the two.
  void replace(std::size_t first, std::size_t second, lower::Unit unit);
  // The same results by other means: the unit needs nothing that the one before it did not need, directly or
  // by others.
  void change(std::size_t slot, lower::Unit unit);
  // Units that the searches for what stands between two have looked at so far.
  std::int64_t visited() const { return visited_; }

  // The units in an order in which they can run, each as early as what it needs allows, else by slot.
  struct Ordered {
    lower::Lowered lowered;
    std::vector<std::size_t> position;  // of the unit by its slot
  };
  Ordered take();

 private:
  enum class Towards : std::uint8_t { earlier, later };
  template <class Visit>
  void for_each_neighbour(std::size_t slot, Towards towards, const Visit& visit) const;
  std::optional<bool> reaches(std::size_t from, std::size_t to, Towards towards, std::int64_t most) const;
  std::vector<std::size_t> reached(std::size_t from, std::size_t limit, Towards towards) const;
  void order_as_one(std::size_t first, std::size_t second);
  bool mark(std::size_t slot) const;

  void put(std::size_t slot, lower::Unit unit);

  lower::Lowered lowered_;
  Around around_;
  std::vector<std::size_t> order_;  // by slot
  mutable std::vector<std::uint64_t> marks_;
  mutable std::uint64_t search_ = 0;
  mutable std::int64_t visited_ = 0;
};

}  // namespace twinloom::fuse
