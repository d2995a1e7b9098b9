// A call of an operator while a text is read: what it gives, where that lies, and what it writes.
#pragma once

#include "frontends/fx/memory.h"

namespace twinloom::fx {

// The arguments are taken with the elements that their memory holds. What an operator in place gives, and
// what a call has an argument 'out' for, is written there.
Item apply(const Operator& called, const Arguments& arguments, Memory& memory);

}  // namespace twinloom::fx
