// See calls.h.
#include "frontends/fx/calls.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/match.h"
#include "frontends/fx/fail.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

CallsOf::CallsOf(const Module& module) {
  for (const Statement& statement : module.statements) walk(*statement.value, statement.place.line);
  walk(*module.result, module.result_place.line);
}

void CallsOf::walk(const std::vector<Child>& children, int line) {
  for (const Child& child : children) walk(*child, line);
}

void CallsOf::walk(const Expression& expression, int line) {
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    if (call->target.ends_with("getitem")) {
      if (call->arguments.size() == 2) take(*call->arguments[0], *call->arguments[1]);
    } else {
      called.push_back({call->target, line});
    }
    walk(call->arguments, line);
    for (const Keyword& keyword : call->keywords) walk(*keyword.value, line);
  } else if (const auto* list = std::get_if<List>(&expression.node)) {
    walk(list->items, line);
  } else if (const auto* operation = std::get_if<Operation>(&expression.node)) {
    walk(operation->operands, line);
  } else if (const auto* subscript = std::get_if<Subscript>(&expression.node)) {
    walk(*subscript->base, line);
    take(*subscript->base, *subscript->index);
  }
}

void CallsOf::take(const Expression& base, const Expression& at) {
  const auto* name = std::get_if<Name>(&base.node);
  const auto* position = std::get_if<Integer>(&at.node);
  if (name == nullptr || position == nullptr || position->value < 0) return;
  std::size_t& count = taken[name->name];
  count = std::max(count, static_cast<std::size_t>(position->value) + 1);
}

void check_operators(const CallsOf& calls) {
  std::vector<CallsOf::Called> unknown;
  for (const CallsOf::Called& call : calls.called) {
    const bool known = call.target == "device" || call.target == "torch.device" ||
                       operator_called(call.target) || find_operator(call.target).has_value();
    const bool again = std::ranges::find(unknown, call.target, &CallsOf::Called::target) != unknown.end();
    if (!known && !again) unknown.push_back(call);
  }
  if (unknown.empty()) return;
  const auto nearest = [](const CallsOf::Called& call) {
    const std::string words = join(nearest_operators(call.target), ", ",
                                   [](const std::string& name) { return cat("'", name, "'"); });
    return words.empty() ? std::string() : cat("; the nearest known: ", words);
  };
  if (unknown.size() == 1) {
    fail(unknown[0].line, cat("operator ", escaped(unknown[0].target), " is not known", nearest(unknown[0])));
  }
  throw Error(cat("FX graph: ", unknown.size(),
                  " operators are not known:", join(unknown, "", [&](const CallsOf::Called& call) {
                    return cat("\n  line ", call.line, ": ", escaped(call.target), nearest(call));
                  })));
}

}  // namespace twinloom::fx
