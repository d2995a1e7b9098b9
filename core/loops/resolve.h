// Turns the forms of a program into functions over the interpreter's state: names become places in
// arrays, once. Follows the program from top to bottom, so it knows at each place which symbols are
// bound and which copies a total still has. For the inside of this room.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/loops/rewrite.h"
#include "core/loops/state.h"

namespace twinloom::loops {

struct CopyAxis {
  Axis axis;
  std::size_t symbol = 0;    // its place among State::symbols
  std::size_t position = 0;  // among Total::extents
};

// A total, stack, or what a Prefix gives.
struct TotalForm {
  std::size_t place = 0;  // among State::totals
  Combiner combine{};
  int parts = 1;
  int depth = 0;
  std::vector<CopyAxis> copies;  // those that are left
  enum class Filled : std::uint8_t { literally, accumulated, scanned } filled = Filled::literally;
};

// What it returns refers to the state, never to the Resolver, which may be gone when it is called.
class Resolver {
 public:
  Resolver(const Program& program, State& state);

  Integer integer(const index::Expr& expr);
  Truth truth(const index::Condition& condition);
  Element element(const Value& value);
  ops::DType type_of(const Value& value) const { return types_.of(value); }
  // The parts of an element that is combined into a total.
  std::function<Parts(State&)> parts(const std::vector<Ref<Value>>& values);

  std::size_t bind(const index::Symbol& symbol, bool from_index = false);
  std::size_t symbol(const index::Symbol& symbol) const;
  // The places of those Index symbols that must be usable where these are.
  std::vector<std::size_t> indices_in(const index::Expr& offset, const index::Condition& mask) const;
  const index::Expr& extent(const Axis& axis) const { return extents_.at(axis); }

  void define(Temp temp, TotalForm form) { totals_[temp] = std::make_shared<TotalForm>(std::move(form)); }
  std::size_t define_value(Temp temp, int parts);
  TotalForm& total(Temp temp);
  std::size_t make_total();
  // This member's cell of a total whose remaining copies are all bound here.
  Integer cell(const TotalForm& form);
  Element read(const Read& read);

  // What is defined between the two is out of scope after leave().
  struct Names {
    std::map<index::Symbol, std::size_t> symbols;
    std::map<Temp, std::shared_ptr<TotalForm>> totals;
    std::map<Temp, std::size_t> values;
  };
  Names enter() const { return {symbols_, totals_, values_}; }
  void leave(Names names);
  bool is_bound(const index::Symbol& symbol) const { return symbols_.contains(symbol); }

  const Program& program() const { return program_; }

 private:
  Integer sum(const index::Sum& sum);
  Element load(const Load& load);
  Element apply(const Apply& apply);
  Element convert(const Convert& convert);

  const Program& program_;
  State& state_;
  Types types_;
  std::map<Axis, index::Expr> extents_;
  bool has_threads_ = false;
  std::map<index::Symbol, std::size_t> places_;  // of all symbols ever bound
  std::set<index::Symbol> from_index_;
  std::map<index::Symbol, std::size_t> symbols_;  // those bound here
  std::map<Temp, std::shared_ptr<TotalForm>> totals_;
  std::map<Temp, std::size_t> values_;
};

}  // namespace twinloom::loops
