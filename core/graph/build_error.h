// How functions over the builder begin their messages.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/graph/builder.h"

namespace twinloom::graph {

// "softmax 'softmax_1' (model.py:12)", from what is built and where it comes from.
std::string subject(const Builder& builder, std::string_view what);

template <class... Words>
[[noreturn]] void fail(const Builder& builder, std::string_view what, const Words&... words) {
  throw Error(cat(subject(builder, what), ": ", words...), {builder.origin.name});
}

// A condition on sizes: Error where it cannot hold, else a requirement where it is not proven.
void require_sizes(Builder& builder, const index::Condition& condition, const std::string& words);

// a <= b as a condition.
inline index::Condition at_most(const index::Expr& a, const index::Expr& b) { return {{{a, b + 1}}}; }

}  // namespace twinloom::graph
