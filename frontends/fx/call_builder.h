// A graph from calls of the operators that a text may name, one after the other, without a text.
//
//   CallBuilder builder;
//   const Item x = builder.input("x", ops::DType::f32, {index::Symbol("n"), 64});
//   const Item y = builder.call("aten._softmax.default", {x, Item{index::Expr(-1)}, Item{false}});
//   const graph::Graph graph = builder.take({y}, {"y"});
//
// What a call gives, writes and promotes is what it is in a text. A call that throws changes nothing that is
// seen.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontends/fx/memory.h"

namespace twinloom::fx {

class CallBuilder {
 public:
  explicit CallBuilder(std::string name = "graph");
  CallBuilder(const CallBuilder&) = delete;
  CallBuilder& operator=(const CallBuilder&) = delete;

  // Parameters, in order. Error where the name was given to another.
  Item input(const std::string& name, ops::DType dtype, graph::Shape shape);
  // A number that is at least 0 and that a run is given.
  Item size(const std::string& name, const index::Expr& value);
  Item constant(graph::Array array) { return {builder_.constant(std::move(array))}; }

  // What the nodes of the calls from here on are called, each after its operator where it is empty, and the
  // line of the user's program that they stand for.
  void set_origin(std::string name, std::string file, int line);

  // `elements`: so many elements of what it gives are needed, where it gives a list whose length the sizes
  // tell.
  Item call(const std::string& target, Items positional,
            std::vector<std::pair<std::string, Item>> keywords = {}, std::size_t elements = 0);

  // The graph that returns the items; the builder is then empty. `names`: one for each, or none at all.
  graph::Graph take(const Items& results, const std::vector<std::string>& names = {});

  const graph::Graph& graph() const { return builder_.graph(); }

 private:
  void add_name(const std::string& name);
  graph::Builder builder_;
  Memory memory_;
  Context context_;
  graph::Origin origin_;  // of the calls
};

}  // namespace twinloom::fx
