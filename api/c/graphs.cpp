// Graphs of the C API: printed, and what their parameters and results are. See handles.h.
#include "api/c/handles.h"

namespace {

using twinloom::c::checked;
using twinloom::c::guarded;
using twinloom::c::Port;

Port port_of(const twinloom::graph::Graph& graph, const twinloom::graph::Parameter& parameter) {
  const auto* id = std::get_if<twinloom::graph::NodeId>(&parameter.value);
  if (id == nullptr) return {parameter.name, TWINLOOM_SIZE};
  return {parameter.name, graph[*id].dtype, graph[*id].shape};
}

Port port_of(const twinloom::graph::Graph& graph, const twinloom::graph::Result& result) {
  if (twinloom::graph::has_value(result.kind))
    return {result.name, graph[result.value].dtype, graph[result.value].shape};
  return {result.name, result.kind == twinloom::graph::Ownership::size ? TWINLOOM_SIZE : TWINLOOM_NONE};
}

template <class Ports>
std::vector<Port> ports_of(const twinloom::graph::Graph& graph, const Ports& given) {
  std::vector<Port> ports;
  for (const auto& each : given) ports.push_back(port_of(graph, each));
  return ports;
}

twinloom_error* describe(const twinloom_graph* graph, std::vector<Port> twinloom_graph::*which,
                         std::string_view what, std::size_t number, twinloom_port* out) {
  return guarded([&] {
    const std::vector<Port>& ports = checked(graph, "graph").*which;
    if (number >= ports.size())
      throw twinloom::Error(
          twinloom::cat("there is no ", what, " ", number, "; the graph has ", ports.size()));
    ports[number].write(out);
  });
}

}  // namespace

twinloom_graph::twinloom_graph(twinloom::graph::Graph given)
    : graph(std::move(given)),
      parameters(ports_of(graph, graph.parameters())),
      results(ports_of(graph, graph.results())) {}

void twinloom_graph_free(twinloom_graph* graph) { delete graph; }

twinloom_error* twinloom_graph_text(const twinloom_graph* graph, char** text) {
  return guarded([&] {
    checked(text, "text");
    *text = twinloom::c::copied(twinloom::graph::print(checked(graph, "graph").graph));
  });
}

size_t twinloom_graph_parameter_count(const twinloom_graph* graph) {
  return graph == nullptr ? 0 : graph->parameters.size();
}

size_t twinloom_graph_result_count(const twinloom_graph* graph) {
  return graph == nullptr ? 0 : graph->results.size();
}

twinloom_error* twinloom_graph_parameter(const twinloom_graph* graph, size_t number, twinloom_port* port) {
  return describe(graph, &twinloom_graph::parameters, "parameter", number, port);
}

twinloom_error* twinloom_graph_result(const twinloom_graph* graph, size_t number, twinloom_port* port) {
  return describe(graph, &twinloom_graph::results, "result", number, port);
}
