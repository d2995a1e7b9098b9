// The type and shape of a node from its operator and inputs, and the rules of each kind. Used by add(),
// which records sizes that only the run can compare, and by verify(), which expects none.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/graph/graph.h"

namespace twinloom::graph {

// What a rule asks of sizes. The words are a whole sentence for when it fails.
struct SizeRules {
  std::function<void(const index::Expr& a, const index::Expr& b, const std::string& words)> equal;
  std::function<void(const index::Condition& condition, const std::string& words)> holds;
  bool are_known = false;  // add() has seen the maps and the computed sizes before
};

struct Inferred {
  ops::DType dtype;
  Shape shape;
};

// A node's kind and name and where it comes from, for messages before it is part of a graph: "add 'add_3'
// (model.py:12)". Spelled where one is made; every node that is added has a subject.
struct Subject {
  const Op& op;
  const Origin& origin;
  friend std::string print(const Subject& subject);
};

// Error starting with the subject where a rule is broken.
Inferred infer(const Graph& graph, const Op& op, std::span<const NodeId> inputs, const Subject& subject,
               const SizeRules& rules);

// The operator with axes and found symbols renamed to i0, f0, ... and its numbers cast to their types,
// so that nodes that mean the same are equal. `element` is the type of input 0.
Op canonical(Op op, ops::DType element);

std::uint64_t hash_of(const Op& op, std::span<const NodeId> inputs);

// Error naming `where` the expression of sizes stands, if it mentions a symbol with the name of an axis.
void check_size_symbols(const index::Expr& expr, const std::string& where);

// The rules of verify() that add() does not check: names, parameters, results. Bug where one is broken.
void verify_beside_nodes(const Graph& graph);

std::string print_shape(const Shape& shape);

}  // namespace twinloom::graph
