// Passes over graphs, one file each. A pass takes a graph and gives a graph with the same parameters
// and results in the same order. The file's head shows a graph before and after.
#pragma once

#include <functional>

#include "core/graph/graph.h"
#include "core/graph/relaxations.h"

namespace twinloom::graph {

// What nobody has proven is not believed: Scatters of a text are no permutations. permutations.cpp
Graph without_promises(const Graph& graph);
// Leaves out what no result needs; parameters stay. remove_dead.cpp
Graph remove_dead(const Graph& graph);
// Mode `fused`: keeps 16-bit values that only Pointwise and Reduce nodes use in f32.
// drop_implicit_rounding.cpp
Graph drop_implicit_rounding(const Graph& graph);
// Mode `fused`: the squares of a variance that is long are summed up in parts, so that memory is read once.
// variance_in_parts.cpp
Graph variance_in_parts(const Graph& graph);
// Outside of strict: what is added to few rows is a sum for each of them. scatter_to_sums.cpp
Graph scatter_to_sums(const Graph& graph);
// Mode `fused`: gelus and their slopes that are written out, and rounded to 16 bits. brief_functions.cpp
Graph brief_functions(const Graph& graph);
// Mode `fused`: these, and functions of f32 and of 16 bits by shorter forms, quotients of a softmax by
// reciprocals of its sums. shorten_functions.cpp
Graph shorten_functions(const Graph& graph);
// The graph whose strict meaning mode `fused` computes: by these three.
Graph fused_meaning(const Graph& graph);
// Mode `fast`, relaxation `approximate`: functions by forms with fewer right bits. approximate_functions.cpp
Graph approximate_functions(const Graph& graph, ops::Subnormals subnormals, ops::ComputedBy unit);
// Mode `fast`, relaxation `contract`: a * b + c in one rounding. contract_products.cpp
Graph contract_products(const Graph& graph);
// Sums of products of 8-bit integers that were scaled, where the products are worth it, as sums of integers.
// integer_products.cpp
using IsWorth = std::function<bool(const Node& products)>;
Graph integer_products(const Graph& graph, const IsWorth& is_worth);
// Windows that are walked backwards, of products that are worth it, are walked forwards.
// transposed_windows.cpp
Graph transposed_windows(const Graph& graph, const IsWorth& is_worth);
// The graph whose strict meaning mode `fast` computes so relaxed, but for sums whose order is free.
Graph fast_meaning(const Graph& graph, Relaxations relaxations);
// The monoid of a node whose results depend on the order in which it combines: of a reduction, a scan, or a
// scatter at one place. Else none. relaxations.cpp
std::optional<ops::Monoid> rounded_monoid(const Node& node);
// The nodes of `graph` that lose their rounding to 16 bits by it, ascending.
std::vector<NodeId> dropped_roundings(const Graph& graph);
// A Gather whose indices follow from the place becomes a View. gather_to_view.cpp
Graph gather_to_view(const Graph& graph);
// A Concat of two parts that lie one behind the other in one value becomes a View. concat_to_view.cpp
Graph concat_to_view(const Graph& graph);
// The places of a permutation are in memory before elements are put there. permutations.cpp
Graph places_in_memory(const Graph& graph);
// A Scatter of which few elements may be written to a place becomes a select. scatter_to_select.cpp
Graph scatter_to_select(const Graph& graph);
// A reduction of what is the same along an axis that it keeps is made once for all of the axis; that of one
// element is the element. reduce_once.cpp
Graph reduce_once(const Graph& graph);
// An axis of products that are worth it becomes two where a factor reads its quotients and remainders.
// batches_in_steps.cpp
Graph batches_in_steps(const Graph& graph, const IsWorth& is_worth);
// A factor of sums of products lies in memory in steps, where the products are worth memory of such a shape.
// factors_in_steps.cpp
using IsWorthMemory = std::function<bool(const Node& products, const Shape& memory)>;
Graph factors_in_steps(const Graph& graph, const IsWorthMemory& is_worth);
// A constant matrix that one row is multiplied by has a copy in rows, where the products are worth it.
// constants_in_rows.cpp
Graph constants_in_rows(const Graph& graph, const IsWorth& is_worth);
// A sum of what is 0 but at one found place is what is there. sum_chosen.cpp
Graph sum_chosen(const Graph& graph);
// What is done to a select between values that repeat along an axis is done to each of them once.
// apply_before_select.cpp
Graph apply_before_select(const Graph& graph);
// Conversions of concatenations to smaller types are those of their parts. convert_parts.cpp
Graph convert_parts(const Graph& graph);
// The maximum of scaled integers of 8 bits is that of the integers, scaled. maxima_of_integers.cpp
Graph maxima_of_integers(const Graph& graph);
// What becomes of each Scatter that a result needs, for `explain`.
struct ScatterForm {
  NodeId scatter;
  std::int64_t candidates = 0;  // of a select: how many elements it asks at each place
  std::string refused;          // why it stays a Scatter; empty where it becomes a select
};
std::vector<ScatterForm> scatter_forms(const Graph& graph);

// Numbers in place of size symbols; the other symbols are at least 1 from then on. specialise.cpp
Graph specialise(const Graph& graph, const index::Values& numbers);

}  // namespace twinloom::graph
