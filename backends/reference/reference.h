// The back end that executes programs by the interpreter: slow, obvious, and the oracle of every test.
#pragma once

#include <memory>

#include "core/runtime/backend.h"

namespace twinloom::reference {

std::unique_ptr<runtime::Backend> make_reference();

}  // namespace twinloom::reference
