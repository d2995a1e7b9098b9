// See prepared.h.
#include "core/runtime/prepared.h"

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/graph/bind.h"

namespace twinloom::runtime {

namespace {

Prepared::Launch launch_of(const Step& step, const index::Values& values) {
  const index::Symbol seed("seed"), offset("offset");
  Prepared::Launch launch;
  for (const loops::SizeInfo& size : step.program.sizes) {
    const std::size_t place = launch.sizes.size();
    if (size.symbol == seed) launch.seeds.push_back(place);
    if (size.symbol == offset) launch.offsets.push_back(place);
    launch.sizes.push_back(values.at(size.symbol));
  }
  launch.tasks = step.kernel->tasks(launch.sizes);
  return launch;
}

Memory elements_of(const Tensor& tensor) {
  const Extent extent = extent_of(tensor);
  return {nullptr, extent.first, extent.last};
}

}  // namespace

Signature signature_of(std::span<const Argument> arguments) {
  Signature signature;
  signature.reserve(arguments.size() * 12);
  for (const Argument& argument : arguments) {
    const auto* tensor = std::get_if<Tensor>(&argument);
    if (tensor == nullptr) {
      signature.insert(signature.end(), {-1, std::get<std::int64_t>(argument)});
      continue;
    }
    signature.insert(
        signature.end(),
        {static_cast<std::int64_t>(tensor->sizes.size()), static_cast<std::int64_t>(tensor->strides.size()),
         static_cast<std::int64_t>(tensor->dtype), tensor->data == nullptr ? 0 : 1});
    signature.insert(signature.end(), tensor->sizes.begin(), tensor->sizes.end());
    signature.insert(signature.end(), tensor->strides.begin(), tensor->strides.end());
  }
  return signature;
}

Prepared prepare(const graph::Graph& graph, std::shared_ptr<const Variant> variant, index::Values values,
                 std::span<const Argument> arguments, Constants& constants) {
  // A kernel has as many tasks whatever these are.
  values[index::Symbol("seed")] = 0;
  values[index::Symbol("offset")] = 0;
  Prepared prepared;
  prepared.plan = plan_memory(*variant, values);
  for (const lower::Value& value : variant->values) {
    Prepared::Shape& shape = prepared.shapes.emplace_back();
    Memory& memory = prepared.memory.emplace_back();
    switch (value.storage) {
      case lower::Storage::parameter:
        memory = elements_of(std::get<Tensor>(arguments[static_cast<std::size_t>(value.parameter)]));
        break;
      case lower::Storage::constant: {
        const Tensor tensor = constants.tensor(value.content);
        memory = elements_of(tensor);
        memory.data = tensor.data;
        break;
      }
      case lower::Storage::result:
        shape = {index::evaluate(value.shape, values), index::evaluate(value.strides, values)};
        memory = elements_of(view_of(nullptr, value.dtype, shape.sizes, shape.strides));
        prepared.result_bytes += index::evaluate(value.count, values) * ops::size_of(value.dtype);
        break;
      case lower::Storage::temporary:
        memory.last = index::evaluate(value.count, values);
        break;
    }
  }
  for (const graph::Result& result : graph.results()) {
    const bool own = result.kind == graph::Ownership::own;
    prepared.own_sizes.push_back(own ? graph::sizes_of(graph[result.value].shape, values)
                                     : std::vector<std::int64_t>());
  }
  for (const Step& step : variant->steps) prepared.launches.push_back(launch_of(step, values));
  prepared.variant = std::move(variant);
  prepared.values = std::move(values);
  return prepared;
}

}  // namespace twinloom::runtime
