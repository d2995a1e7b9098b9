// Inside of the room: values of a nest as a graph without repetition. Each distinct value has a number;
// its inputs have smaller ones. Lets disappear: a Read of one is the value that it names.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::lower {

class Interner {
 public:
  // `tidy` is applied to every expression, `tidy_mask` to every condition, before values are compared.
  using Tidy = std::function<index::Expr(const index::Expr&)>;
  using TidyMask = std::function<index::Condition(const index::Condition&)>;
  Interner(Tidy tidy, TidyMask tidy_mask) : tidy_(std::move(tidy)), tidy_mask_(std::move(tidy_mask)) {}

  int intern(const loops::Ref<loops::Value>& value);
  // From here on a Read of `temp` is value `number`.
  void name(loops::Temp temp, int number) { lets_[temp] = number; }

  struct Known {
    loops::Ref<loops::Value> value;  // its inputs are interned values
    std::vector<int> inputs;
    // Of f32: the types of 16 bits that it is a value of, so that rounding it to one of them changes nothing.
    std::vector<ops::DType> narrower = {};
  };
  const Known& operator[](int number) const { return known_[static_cast<std::size_t>(number)]; }
  int count() const { return static_cast<int>(known_.size()); }

 private:
  int add(const std::string& key, const loops::Value& value, std::vector<int> inputs);
  std::vector<int> without_repeated_question(std::vector<int> inputs) const;
  int intern_apply(const loops::Apply& apply);
  int intern_load(const loops::Load& load);
  int intern_convert(const loops::Convert& convert);
  bool is_of_type(const Known& known, ops::DType narrow) const;
  Tidy tidy_;
  TidyMask tidy_mask_;
  std::vector<Known> known_;
  std::map<std::string, int> by_key_;
  std::map<const loops::Value*, int> by_pointer_;
  std::vector<loops::Ref<loops::Value>> seen_;  // keeps the keys of by_pointer_ alive
  std::map<loops::Temp, int> lets_;
};

// Literal, Count and Read: not worth a name.
bool is_plain(const loops::Value& value);
// Of a type that may only be converted and stored.
bool is_narrow(const loops::Value& value);

}  // namespace twinloom::lower
