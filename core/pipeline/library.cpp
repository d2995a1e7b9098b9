// See library.h.
#include "core/pipeline/library.h"

#include <map>
#include <optional>

#include "core/cost/estimate.h"
#include "core/graph/passes.h"
#include "core/library_calls/split.h"

namespace twinloom::pipeline {

namespace {

double count_of(const graph::Shape& shape) {
  return lower::typical_count(shape, lower::RealizeLimits().typical_size);
}

}  // namespace

library_calls::CallThresholds Library::thresholds() const {
  return backend_.machine().max_threads > 1 ? library_calls::GPU_THRESHOLDS : library_calls::CPU_THRESHOLDS;
}

std::function<bool(const graph::Node&)> Library::are_large() const {
  return
      [large = thresholds().large](const graph::Node& products) { return count_of(products.shape) >= large; };
}

std::function<bool(const graph::Node&)> Library::are_large_and_served(
    const std::function<loops::Program()>& sample) const {
  return [is_large = are_large(), &backend = backend_, sample,
          is_served = std::optional<bool>()](const graph::Node& products) mutable {
    if (!is_large(products)) return false;
    if (!is_served) is_served = backend.has_library_for(sample());
    return *is_served;
  };
}

bool Library::may_be_there() const { return backend_.machine().library_rate > 0 && mode_ != Mode::strict; }

bool Library::suits(const loops::Program& nest) const {
  const double products = library_calls::products_of(nest);
  if (products < thresholds().least || !backend_.has_library_for(nest)) return false;
  if (products >= thresholds().large) return true;
  if (!nest.sizes.empty()) return false;
  const machine::Machine& machine = backend_.machine();
  loops::Program call = nest;
  call.library = true;
  return cost::estimate(call, machine, {}).seconds <
         cost::clearly_less(machine) * choices_.chosen_seconds(nest);
}

std::function<bool(const loops::Program& nest)> Library::takes() const {
  return [library = *this,
          known = std::map<loops::Ref<loops::Stmt>, bool>()](const loops::Program& nest) mutable {
    const auto [found, added] = known.try_emplace(nest.body, false);
    if (added)
      found->second =
          library_calls::takes(nest, [&](const loops::Program& alone) { return library.suits(alone); });
    return found->second;
  };
}

void Library::describe_to(lower::Routines& routines) const {
  routines.has_library_call = [library = *this](const loops::Program& nest) { return library.suits(nest); };
  routines.least_products = thresholds().least;
  routines.library_takes = [library = *this, known = std::map<ops::DType, bool>()](ops::DType type) mutable {
    const auto [found, added] = known.try_emplace(type, false);
    if (added) found->second = library.backend_.has_library_for(library_calls::sample_product(type));
    return found->second;
  };
}

// What is generated multiplies reals as fast.
graph::Graph Library::integer_products(const graph::Graph& graph) const {
  if (!may_be_there()) return graph;
  return graph::integer_products(
      graph, are_large_and_served([] { return library_calls::sample_product(ops::DType::i8); }));
}

graph::Graph Library::transposed_windows(const graph::Graph& graph) const {
  if (!may_be_there()) return graph;
  return graph::transposed_windows(graph, are_large_and_served(library_calls::sample_convolution));
}

graph::Graph Library::batches_in_steps(const graph::Graph& graph) const {
  return may_be_there() ? graph::batches_in_steps(graph, are_large()) : graph;
}

graph::Graph Library::factors_in_steps(const graph::Graph& graph) const {
  if (!may_be_there()) return graph;
  return graph::factors_in_steps(
      graph, [is_large = are_large()](const graph::Node& products, const graph::Shape& memory) {
        return is_large(products) && count_of(products.shape) >= 2 * count_of(memory);
      });
}

}  // namespace twinloom::pipeline
