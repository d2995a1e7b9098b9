// Sorts and what is found by them.
#include "core/graph/sorting.h"

#include <array>

#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::Direction;
using graph::Nans;
using graph::Tensor;

Direction direction_of(bool descending) { return descending ? Direction::descending : Direction::ascending; }
Item pair_of(const graph::Sorted& sorted) { return {Items{{sorted.values}, {sorted.offsets}}}; }
Item pair_of(const graph::Extreme& found) { return {Items{{found.value}, {found.place}}}; }

// `first`: the position of the axis, which a stable sort has behind whether it is one.
graph::Sorted sorted(const Arguments& arguments, std::size_t first) {
  return graph::sort(arguments.tensor(0, "self"), arguments.integer(first, "dim", -1),
                     direction_of(arguments.boolean(first + 1, "descending", false)));
}
Item sort(const Arguments& arguments) { return pair_of(sorted(arguments, 1)); }
Item stable_sort(const Arguments& arguments) { return pair_of(sorted(arguments, 2)); }
Item argsort(const Arguments& arguments) { return {sorted(arguments, 1).offsets}; }
Item stable_argsort(const Arguments& arguments) { return {sorted(arguments, 2).offsets}; }
Item msort(const Arguments& arguments) { return {graph::sort(arguments.tensor(0, "self"), 0).values}; }

// Sorted also where any order would do.
Item topk(const Arguments& arguments) {
  return pair_of(graph::top(arguments.tensor(0, "self"), arguments.size(1, "k"),
                            arguments.integer(2, "dim", -1),
                            direction_of(arguments.boolean(3, "largest", true))));
}
Item kthvalue(const Arguments& arguments) {
  return pair_of(graph::kth_value(arguments.tensor(0, "self"), arguments.size(1, "k"),
                                  arguments.integer(2, "dim", -1), arguments.boolean(3, "keepdim", false)));
}

template <Nans nans>
Item median(const Arguments& arguments) {
  return {graph::median(arguments.tensor(0, "self"), nans)};
}
template <Nans nans>
Item median_along(const Arguments& arguments) {
  return pair_of(graph::median(arguments.tensor(0, "self"), arguments.integer(1, "dim"),
                               arguments.boolean(2, "keepdim", false), nans));
}

constexpr std::array rows = {
    Row{"sort", sort},
    Row{"sort.stable", stable_sort},
    Row{"argsort", argsort},
    Row{"argsort.stable", stable_argsort},
    Row{"msort", msort},
    Row{"topk", topk},
    Row{"kthvalue", kthvalue},
    Row{"median", median<Nans::win>},
    Row{"median.dim", median_along<Nans::win>},
    Row{"nanmedian", median<Nans::ignored>},
    Row{"nanmedian.dim", median_along<Nans::ignored>},
};

}  // namespace

std::span<const Row> sorting_rows() { return rows; }

}  // namespace twinloom::fx
