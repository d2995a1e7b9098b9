// A call of an operator while a text is read: what it gives, where that lies, and what it writes.
#pragma once

#include "frontends/fx/memory.h"

namespace twinloom::fx {

// The arguments are taken with the elements that their memory holds. What an operator in place gives, and
// what a call has an argument 'out' for, is written there.
Item apply(const Operator& called, const Arguments& arguments, Memory& memory);

// The same by the target's name: `getitem`, arithmetic of Python on numbers, or an operator. Error where none
// of them takes these arguments.
Item call(const std::string& target, Items positional, std::vector<std::pair<std::string, Item>> keywords,
          Context& context, Memory& memory);

// An element of a list by its position; a negative one counts from the end.
Item element_of(const Item& list, const Item& at);

}  // namespace twinloom::fx
