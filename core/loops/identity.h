// What a nest is, whatever it is called: nests that differ only in the names of the nest, its buffers and its
// sizes, and in the graph's nodes that they speak of, are one. What is kept of a nest, such as a schedule,
// serves all of them.
//
//   program k3_add(in7: f32[s0], out2: written f32[s0]; s0 in 33..64 % 2 ~ 48) { for i0 < s0 { ...
//   program nest(b0: f32[size0], b1: written f32[size0]; size0 in ..) { for i0 < size0 { ...   and, beside
//   it, "size0 in 33..64 % 2"
#pragma once

#include "core/loops/loops.h"

namespace twinloom::loops {

struct Identity {
  Program nest;       // by such names; nothing is known of its sizes
  std::string hash;   // of its text: 32 digits
  std::string sizes;  // what was known of them, but what is usual: the class of sizes that it is for
};
Identity identity_of(const Program& nest);

}  // namespace twinloom::loops
