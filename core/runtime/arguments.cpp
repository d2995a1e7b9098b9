// See arguments.h.
#include "core/runtime/arguments.h"

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/graph/bind.h"

namespace twinloom::runtime {

namespace {

using graph::Graph;

std::string words_of_sizes(std::span<const std::int64_t> sizes) {
  return cat("[", join(sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
}

void check_argument(const graph::Parameter& parameter, const Graph& graph, const Argument& argument) {
  const auto* tensor = std::get_if<Tensor>(&argument);
  const auto* id = std::get_if<graph::NodeId>(&parameter.value);
  const std::string name = escaped(parameter.name);
  if ((tensor != nullptr) != (id != nullptr)) {
    throw Error(cat("parameter '", name, "' is ", id != nullptr ? "a tensor" : "a size", ", given was ",
                    tensor != nullptr ? "a tensor" : "a number"),
                {parameter.name});
  }
  if (tensor == nullptr) return;
  const graph::Node& node = graph[*id];
  if (tensor->dtype != node.dtype) {
    throw Error(
        cat("parameter '", name, "' is of ", ops::name(node.dtype), ", given was ", ops::name(tensor->dtype)),
        {parameter.name});
  }
  if (tensor->sizes.size() != node.shape.size() || tensor->strides.size() != tensor->sizes.size()) {
    throw Error(cat("parameter '", name, "' has ", node.shape.size(), " axes, given was ",
                    words_of_sizes(tensor->sizes)),
                {parameter.name});
  }
}

std::string words_of_device(int device) { return device == HOST ? "the host" : cat("GPU ", device); }

}  // namespace

void check_device(const Graph& graph, std::span<const Argument> arguments, const Space* space) {
  const int expected = space == nullptr ? HOST : space->device();
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* tensor = std::get_if<Tensor>(&arguments[p]);
    if (tensor == nullptr || tensor->device == expected) continue;
    const std::string& name = graph.parameters()[p].name;
    throw Error(cat("parameter '", escaped(name), "' lies in memory of ", words_of_device(tensor->device),
                    "; expected was memory of ", words_of_device(expected)),
                {name});
  }
}

void check_memory(const Graph& graph, std::span<const Argument> arguments, const Space* space) {
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* tensor = std::get_if<Tensor>(&arguments[p]);
    if (tensor == nullptr || tensor->data != nullptr || element_count(*tensor) == 0) continue;
    const std::string& name = graph.parameters()[p].name;
    throw Error(cat("parameter '", escaped(name), "' has no memory"), {name});
  }
  check_device(graph, arguments, space);
}

index::Values bound_sizes(const Graph& graph, std::span<const Argument> arguments) {
  if (arguments.size() != graph.parameters().size()) {
    throw Error(
        cat("the graph has ", graph.parameters().size(), " parameters, given were ", arguments.size()));
  }
  std::vector<graph::ParameterSizes> sizes;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    check_argument(graph.parameters()[p], graph, arguments[p]);
    if (const auto* tensor = std::get_if<Tensor>(&arguments[p]))
      sizes.emplace_back(tensor->sizes);
    else
      sizes.emplace_back(std::get<std::int64_t>(arguments[p]));
  }
  try {
    return graph::bind_sizes(graph, sizes);
  } catch (const Error& error) {
    logging::event(Log::guards, [&] { return cat("failed: ", error.what()); });
    throw;
  }
}

}  // namespace twinloom::runtime
