// See prepared.h.
#include "core/runtime/prepared.h"

#include <algorithm>

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

std::shared_ptr<const Kernel> with_constants(const Step& step, const Variant& variant,
                                             const Prepared& prepared) {
  std::vector<ConstantArgument> arguments;
  for (const auto& [index] : step.arguments) {
    std::shared_ptr<const void> content = variant.values[index].content;
    if (content == nullptr) content = prepared.once->memory[index];
    arguments.push_back({prepared.memory[index], std::move(content)});
  }
  const bool any = std::ranges::any_of(
      arguments, [](const ConstantArgument& argument) { return argument.content != nullptr; });
  auto made = any ? step.kernel->with_constants(arguments) : nullptr;
  return made != nullptr ? std::shared_ptr<const Kernel>(std::move(made)) : step.kernel;
}

void add_launches(Prepared& prepared, const Variant& variant, const index::Values& values) {
  for (std::size_t v = 0; v < prepared.memory.size(); ++v)
    if (prepared.once->memory[v] != nullptr) prepared.memory[v].data = prepared.once->memory[v].get();
  for (std::size_t s = 0; s < variant.steps.size(); ++s) {
    const Step& step = variant.steps[s];
    prepared.launches.push_back(launch_of(step, values));
    if (!prepared.once->steps[s]) prepared.launches.back().kernel = with_constants(step, variant, prepared);
  }
}

// The value whose memory a result of the variant's graph lies in.
std::size_t value_behind(const Variant& variant, std::size_t result) {
  const graph::NodeId base = variant.graph.results()[result].base;
  const auto found = std::ranges::find_if(variant.values, [&](const lower::Value& value) {
    return value.storage == lower::Storage::result && value.node == base;
  });
  CHECK(found != variant.values.end(), "nothing holds what result ", result, " is a view of");
  return static_cast<std::size_t>(found - variant.values.begin());
}

// Nothing of it lies outside its base.
void check_inside(const graph::StridedView& view, const Extent& base, std::size_t result) {
  const Extent extent = extent_of({nullptr, ops::DType::f32, view.sizes, view.strides, nullptr, HOST});
  const bool inside = extent.first == extent.last ||
                      (extent.first + view.offset >= base.first && extent.last + view.offset <= base.last);
  CHECK(inside, "result ", result, " reaches outside of what it is a view of");
}

// How the result lies in the memory of another tensor.
Prepared::Seen seen_by(const graph::Graph& graph, std::size_t r, const Prepared& prepared,
                       const Variant& variant, std::span<const Argument> arguments) {
  const graph::Result& result = graph.results()[r];
  Prepared::Seen seen;
  const auto look = [&](graph::NodeId base, const Tensor& tensor) {
    seen.view = graph::strided_view(graph, result.value, base, tensor.strides, prepared.values);
    check_inside(seen.view, extent_of(tensor), r);
  };
  if (result.kind == graph::Ownership::input) {
    const auto slot = static_cast<std::size_t>(result.input);
    const auto base = std::get<graph::NodeId>(graph.parameters()[slot].value);
    const Tensor& given = std::get<Tensor>(arguments[slot]);
    seen.copied =
        !is_contiguous(given) && graph::strided(graph, result.value, base) != graph::Strided::always;
    look(base, seen.copied ? view_of(nullptr, given.dtype, given.sizes) : given);
  } else if (result.kind == graph::Ownership::view) {
    seen.value = value_behind(variant, r);
    const auto& [sizes, strides] = prepared.shapes[seen.value];
    look(result.base, view_of(nullptr, variant.values[seen.value].dtype, sizes, strides));
  }
  return seen;
}

Memory elements_of(const Tensor& tensor) {
  const Extent extent = extent_of(tensor);
  return {nullptr, extent.first, extent.last};
}

// The bytes of the results so far and of one more. Error where 64 bits do not count them.
std::int64_t with_result(std::int64_t bytes, const lower::Value& value, std::span<const std::int64_t> sizes,
                         const index::Values& values) {
  const auto own = checked_multiply(index::evaluate(value.count, values), ops::size_of(value.dtype));
  const auto all = own ? checked_add(bytes, *own) : std::nullopt;
  if (!all) {
    throw Error(cat(own ? "a run with its result of " : "a result of ", ops::name(value.dtype), "[",
                    join(sizes, ", ", [](std::int64_t size) { return cat(size); }),
                    "] has more bytes than 64 bits count"));
  }
  return *all;
}

// None where a run cannot begin again.
InPlaceSteps in_place_steps(const Prepared& prepared) {
  InPlaceSteps pairs;
  if (!prepared.can_begin_again) return pairs;
  for (const Prepared::Launch& launch : prepared.launches)
    pairs.push_back(launch.kernel == nullptr ? std::vector<loops::InPlace>()
                                             : launch.kernel->in_place(launch.sizes));
  return pairs;
}

// Whose memory results take.
std::vector<int> reused_by(const Prepared& prepared, const Variant& variant,
                           std::span<const Argument> arguments) {
  std::vector<Tensor> tensors(variant.values.size());
  for (std::size_t v = 0; v < tensors.size(); ++v) {
    const lower::Value& value = variant.values[v];
    if (value.storage != lower::Storage::result) continue;
    tensors[v] = view_of(nullptr, value.dtype, prepared.shapes[v].sizes, prepared.shapes[v].strides);
  }
  return reused_parameters(variant, arguments, tensors);
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
                 std::span<const Argument> arguments, Constants& constants, Purpose purpose) {
  // A kernel has as many tasks whatever these are.
  values[index::Symbol("seed")] = 0;
  values[index::Symbol("offset")] = 0;
  Prepared prepared;
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
        prepared.result_bytes = with_result(prepared.result_bytes, value, shape.sizes, values);
        break;
      case lower::Storage::temporary:
        memory.last = index::evaluate(value.count, values);
        break;
    }
  }
  prepared.reused = reused_by(prepared, *variant, arguments);
  prepared.once = purpose == Purpose::run ? constants.once().get(variant, prepared.memory)
                                          : std::make_shared<const Once>(planned_once(*variant));
  add_launches(prepared, *variant, values);
  prepared.can_begin_again =
      std::ranges::all_of(prepared.reused, [](int parameter) { return parameter == NO_PARAMETER; });
  prepared.plan = plan_memory(*variant, values, *prepared.once, in_place_steps(prepared));
  prepared.values = std::move(values);
  for (std::size_t r = 0; r < graph.results().size(); ++r) {
    const graph::Result& result = graph.results()[r];
    const bool own = result.kind == graph::Ownership::own;
    prepared.own_sizes.push_back(own ? graph::sizes_of(graph[result.value].shape, prepared.values)
                                     : std::vector<std::int64_t>());
    prepared.seen.push_back(seen_by(graph, r, prepared, *variant, arguments));
  }
  prepared.variant = std::move(variant);
  return prepared;
}

}  // namespace twinloom::runtime
