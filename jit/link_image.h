// An object as an image that may lie at any address: see code_image.h.
#pragma once

#include "jit/code_image.h"
#include "jit/object.h"

namespace twinloom::jit {

// What the function `symbol` of the object needs. Bug where the object is broken or does not define it.
CodeImage link_image(const Object& object, const std::string& symbol);

}  // namespace twinloom::jit
