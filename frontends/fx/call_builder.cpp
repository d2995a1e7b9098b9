// See call_builder.h.
#include "frontends/fx/call_builder.h"

#include <algorithm>

#include "core/base/error.h"
#include "frontends/fx/apply.h"
#include "frontends/fx/results.h"

namespace twinloom::fx {

namespace {

// "softmax" of "torch.ops.aten.softmax.int": what its nodes are called.
std::string short_name(std::string_view target) {
  for (const std::string_view prefix : {"torch.ops.", "aten.", "prims.", "operator."})
    if (target.starts_with(prefix)) target.remove_prefix(prefix.size());
  return std::string(target.substr(0, target.find('.')));
}

}  // namespace

CallBuilder::CallBuilder(std::string name)
    : builder_(std::move(name)), context_{builder_, 0, {}, 0, {}, {}} {}

void CallBuilder::add_name(const std::string& name) {
  const auto same = [&](const graph::Parameter& each) { return each.name == name; };
  if (std::ranges::any_of(builder_.graph().parameters(), same))
    throw Error(cat("there are two parameters '", escaped(name), "'"));
  builder_.origin = {"", 0, name, "", 0};
}

Item CallBuilder::input(const std::string& name, ops::DType dtype, graph::Shape shape) {
  add_name(name);
  const int slot = static_cast<int>(builder_.graph().parameters().size());
  return memory_.parameter(Item{builder_.input(name, dtype, std::move(shape))}, slot, {});
}

Item CallBuilder::size(const std::string& name, const index::Expr& value) {
  add_name(name);
  builder_.size_parameter(name, value);
  return {value};
}

void CallBuilder::set_origin(std::string name, std::string file, int line) {
  origin_ = {std::move(file), line, std::move(name), "", 0};
}

Item CallBuilder::call(const std::string& target, Items positional,
                       std::vector<std::pair<std::string, Item>> keywords, std::size_t elements) {
  builder_.origin = origin_;
  if (origin_.name.empty()) builder_.origin.name = short_name(target);
  context_.elements = elements;
  return fx::call(target, std::move(positional), std::move(keywords), context_, memory_);
}

graph::Graph CallBuilder::take(const Items& results, const std::vector<std::string>& names) {
  if (!names.empty() && names.size() != results.size())
    throw Error(cat(names.size(), " names were given for ", results.size(), " results"));
  builder_.origin = {};
  const graph::Graph before = builder_.graph();
  try {
    add_results(results, context_, memory_, names);
  } catch (...) {
    builder_.graph() = before;
    throw;
  }
  return builder_.take();
}

}  // namespace twinloom::fx
