// What the interpreter changes while it runs, and the form that a program is turned into once so that
// it need not be looked up at every step: functions over that state. For the inside of this room.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/loops/interpret.h"
#include "core/loops/totals.h"
#include "core/loops/touches.h"

namespace twinloom::loops {

using Bits = std::uint64_t;  // one element in its low bytes

// A buffer: the caller's memory, or arrays of its own.
struct Array {
  std::string name;
  ops::DType dtype = ops::DType::b8;
  Memory memory;  // of an argument
  bool local = false;
  bool each_thread = false;
  bool shared = false;     // between threads or blocks
  std::int64_t count = 0;  // of a local one
  std::map<std::int64_t, std::vector<std::byte>> of_thread;
  Touches touches;                // where it is shared
  std::int64_t block_began = -1;  // of a local one: when the block did whose touches these are
};

// The buffers of the program, the arguments over their memory.
std::vector<Array> arrays_of(const Program& program, std::span<const Memory> arguments);

struct State {
  std::vector<std::int64_t> symbols;
  std::vector<char> usable;  // not so where the Index failed or was masked
  std::vector<Bits> values;  // of Lets
  std::vector<Total> totals;
  std::vector<Array> arrays;
  Threads threads;  // of this member of the thread loops around here
  Moment moment;
  Order order;
  std::optional<Failure> failure;

  // The address of an element that is touched. Bug with `where` when the offset lies outside the memory.
  std::byte* element(std::size_t array, std::int64_t offset, Access access, const std::string& where);
};

using Integer = std::function<std::int64_t(const State&)>;
using Truth = std::function<bool(const State&)>;
using Element = std::function<Bits(State&)>;
using Action = std::function<void(State&)>;

// What the row of a routine means.
struct Sorted {
  std::vector<std::int64_t> order, starts;
};
Sorted stable_sort(const std::vector<std::int64_t>& keys, std::int64_t bound);
std::vector<std::int64_t> stable_order(const std::vector<std::int64_t>& keys);  // of all of them

class KeyedSums {  // of a row of sums_by_key
 public:
  KeyedSums(ops::DType dtype, std::int64_t bound)
      : combine_{ops::Monoid::sum, dtype}, values_(static_cast<std::size_t>(bound)) {}
  void add(std::int64_t key, const ops::Number& value);
  ops::Number sum(std::int64_t key) const;

 private:
  Combiner combine_;
  std::vector<std::vector<ops::Number>> values_;  // by key
};

}  // namespace twinloom::loops
