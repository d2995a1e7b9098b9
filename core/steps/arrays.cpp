// See arrays.h.
#include "core/steps/arrays.h"

#include "core/steps/rows.h"

namespace twinloom::steps {

std::variant<Array, std::string> array_over(const Kernel& kernel, std::vector<loops::Loop> dimensions,
                                            std::int64_t pad) {
  Array array;
  for (std::size_t at = 0; at < dimensions.size(); ++at) {
    const loops::Loop& loop = dimensions[at];
    const auto extent = most(kernel, loop.extent);
    if (!extent) return cat("no bound is known of the extent ", loop.extent, " of ", loop.axis);
    const std::int64_t width = *extent + (at + 1 == dimensions.size() ? pad : 0);
    array.place = array.place * width + loop.axis;
    array.count *= width;
    if (array.count > MOST_ELEMENTS)
      return cat("the array would have more than ", MOST_ELEMENTS, " elements");
  }
  array.dimensions = std::move(dimensions);
  return array;
}

std::variant<Filling, std::string> filling_of(Kernel& kernel, const Cache& cache, const Array& array) {
  if (cache.fill.size() != array.dimensions.size())
    return cat("the array has ", array.dimensions.size(), " dimensions, and ", cache.fill.size(),
               " loops fill it");
  Filling filling;
  std::set<index::Symbol> taken = symbols_in(kernel.program);
  for (std::size_t at = 0; at < cache.fill.size(); ++at) {
    const loops::Loop& dimension = array.dimensions[at];
    const loops::Axis axis(cache.fill[at]);
    if (!taken.insert(axis).second) return cat("the name ", axis, " is taken");
    filling.names.emplace(dimension.axis, axis);
    filling.loops.push_back({axis, dimension.extent, loops::Bind::serial, nullptr});
    kernel.facts.assume_below(axis, dimension.extent);
  }
  for (const loops::Loop& loop : filling.loops)
    for (const loops::Loop& other : array.dimensions)
      if (index::mentions(loop.extent, other.axis))
        return cat("the extent of ", loop.axis, " depends on ", other.axis);
  return filling;
}

}  // namespace twinloom::steps
