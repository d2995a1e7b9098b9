// In whose memory each value of a text lies, and what that memory holds: views, copies, writes.
//
//   v = select(x, 0, 0); add_(v, 1)    ->    x is select_scatter(x, add(v, 1), 0, 0) where it is read later
//
// Values do not change. A write gives its memory another value and counts on; an item of the memory that has
// seen fewer writes is taken anew where it is read: all of the memory as it is, a view by the calls that made
// it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "frontends/fx/items.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/strides.h"

namespace twinloom::fx {

class Memory {
 public:
  // All of the memory of the parameter with that number.
  Item parameter(Item item, int slot, const Layout& layout);
  // What a call of the row gave, in the memory in which it lies.
  Item lying(const Row& row, const Arguments& call, Item item);

  // The item with the elements that its memory holds. Error where that depends on what no text tells.
  Item current(const Item& item);
  Arguments current(const Arguments& call);
  // The target after a write of the value, which has its type and shape. What is wrong is an Error of `call`.
  Item write(const Arguments& call, const Item& target, const Item& value);

  // The parameter that the item is all of and that was written; -1: none.
  int written_parameter(const Item& item) const;
  // What the parameters that were written hold when the run is over, by their numbers.
  std::map<int, graph::Tensor> written() const;
  // The same results, but that those which lie in one memory that was written are views of one value.
  Items sharing(Items results);

 private:
  // One memory. `whole` is meant from the first write on.
  struct Held {
    int version = 0;
    Item whole = {};
    int parameter = -1;  // its number, of the memory of a parameter
    Layout layout = {};
    int kin = 0;               // memories of one number may be one memory
    std::string changed = {};  // the words for why nobody knows what it holds
  };
  struct Call {
    Call(const Row& row, const Arguments& arguments, const Item& base);
    Call(const Call&) = delete;  // the arguments are of the context
    Call& operator=(const Call&) = delete;
    const Row& row;
    Context context;
    Arguments arguments;
  };
  struct View {
    std::shared_ptr<const Call> call;
    int part;   // which element of the list that the call gives; -1: it gives one tensor
    int first;  // of the views that lead to it, the one of all of the memory
    Item base, item;
  };

  Held& held(const Item& item) { return held_[static_cast<std::size_t>(item.location.memory)]; }
  const Held& held(const Item& item) const { return held_[static_cast<std::size_t>(item.location.memory)]; }
  View& view(int number) { return views_[static_cast<std::size_t>(number)]; }
  int add_memory();
  Item made(Item item);
  Item beside(const Row& row, const Item& item, const Item& base);
  Item viewed(const Row& row, const Arguments& call, Item item, const Item& base);
  Item view_of(const std::shared_ptr<const Call>& call, int part, Item item, const Item& base);
  Item root_of(const Item& item);
  // From the item's view back to all of the memory, as far as `goes_on` says.
  template <class Condition>
  std::vector<int> chain(const Item& item, Condition goes_on);
  Item replayed(const std::vector<int>& views, Item base);
  Item put(const Arguments& call, int number, const Item& value);
  void leave_unknown(const Arguments& call, const Item& written);

  std::deque<Held> held_ = std::deque<Held>(1);  // by number, from 1 on
  std::vector<View> views_;
  std::map<int, std::vector<int>> kin_;  // of more than one memory
  bool writes_ = false;
};

}  // namespace twinloom::fx
