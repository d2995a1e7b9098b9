// See reuse.h.
#include "core/runtime/reuse.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/rewrite.h"

namespace twinloom::runtime {

namespace {

using graph::Ownership;

std::size_t at(int number) { return static_cast<std::size_t>(number); }

const graph::Input* input_of(const graph::Graph& graph, int parameter) {
  const auto* id = std::get_if<graph::NodeId>(&graph.parameters()[at(parameter)].value);
  return id == nullptr ? nullptr : &std::get<graph::Input>(graph[*id].node);
}

std::ptrdiff_t results_with(const graph::Graph& graph, Ownership kind, int parameter) {
  return std::ranges::count_if(graph.results(), [&](const graph::Result& result) {
    return result.kind == kind && result.input == parameter;
  });
}

// The parameter that the value is written into at the end of the run; NO_PARAMETER: into none.
int written_parameter(const graph::Graph& graph, const lower::Value& value) {
  if (value.result < 0 || graph.results()[at(value.result)].kind != Ownership::written) return NO_PARAMETER;
  return graph.results()[at(value.result)].input;
}

// Elements side by side from the first on, some at all.
bool is_dense(const Tensor& tensor) {
  const Extent extent = extent_of(tensor);
  return extent.first == 0 && extent.last != 0 && extent.last == element_count(tensor);
}

bool same_layout(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
}

class Search {
 public:
  Search(const Variant& variant, std::span<const Argument> arguments, std::span<const Tensor> results)
      : variant_(variant),
        arguments_(arguments),
        results_(results),
        reused_(variant.values.size(), NO_PARAMETER) {
    may_fail_ = std::ranges::any_of(variant.steps, [](const Step& step) {
      return step.program.body != nullptr && loops::looks_up_indices(*step.program.body);
    });
  }

  // A result of the layout of a parameter takes its memory before one that is only as large.
  std::vector<int> run() {
    for (const bool alike : {true, false})
      for (std::size_t v = 0; v < variant_.values.size(); ++v)
        if (variant_.values[v].storage == lower::Storage::result && reused_[v] == NO_PARAMETER)
          reused_[v] = parameter_for(v, alike);
    return reused_;
  }

 private:
  int parameter_for(std::size_t v, bool alike) const {
    for (int p = 0; p < static_cast<int>(arguments_.size()); ++p) {
      const auto* given = std::get_if<Tensor>(&arguments_[at(p)]);
      if (given == nullptr || !gives_memory(variant_.graph, p) || same_layout(*given, results_[v]) != alike)
        continue;
      if (std::ranges::find(reused_, p) == reused_.end() && may_take(v, p) && fits(results_[v], *given) &&
          is_read_before(v, p))
        return p;
    }
    return NO_PARAMETER;
  }

  // What the graph says of it.
  bool may_take(std::size_t v, int p) const {
    const graph::Graph& graph = variant_.graph;
    const auto writes = results_with(graph, Ownership::written, p);
    const int own = written_parameter(graph, variant_.values[v]);
    if (writes == 0) return own == NO_PARAMETER && results_with(graph, Ownership::input, p) == 0;
    const bool is_viewed = std::ranges::any_of(graph.results(), [&](const graph::Result& result) {
      return result.kind == Ownership::view && result.base == variant_.values[v].node;
    });
    return own == p && writes == 1 && !is_viewed &&
           same_layout(std::get<Tensor>(arguments_[at(p)]), results_[v]) &&
           (!may_fail_ || input_of(graph, p)->donated);
  }

  static bool fits(const Tensor& result, const Tensor& given) {
    const auto bytes = [](const Tensor& tensor) {
      return checked_multiply(element_count(tensor), ops::size_of(tensor.dtype));
    };
    return is_dense(given) && is_dense(result) && bytes(given) == bytes(result);
  }

  // A kernel that reads the parameter and is the first to write the value does so in place.
  bool is_read_before(std::size_t v, int p) const {
    bool is_written = false;
    for (const Step& step : variant_.steps) {
      std::optional<std::uint32_t> read, written;
      for (std::uint32_t k = 0; k < step.arguments.size(); ++k) {
        const lower::Value& value = variant_.values[step.arguments[k].index];
        if (step.arguments[k].index == v) written = k;
        if (value.storage == lower::Storage::parameter && value.parameter == p) read = k;
      }
      if (read && is_written) return false;
      is_written = is_written || written.has_value();
      if (!read || !written) continue;
      const loops::InPlace pair{loops::Buffer{*read}, loops::Buffer{*written}};
      if (std::ranges::find(step.in_place, pair) == step.in_place.end()) return false;
    }
    return true;
  }

  const Variant& variant_;
  std::span<const Argument> arguments_;
  std::span<const Tensor> results_;
  std::vector<int> reused_;
  bool may_fail_ = false;  // at an index
};

}  // namespace

bool gives_memory(const graph::Graph& graph, int parameter) {
  const graph::Input* input = input_of(graph, parameter);
  return input != nullptr && (input->donated || results_with(graph, Ownership::written, parameter) > 0);
}

std::vector<loops::InPlace> in_place_pairs(const graph::Graph& graph, std::span<const lower::Value> values,
                                           const loops::Program& program,
                                           std::span<const lower::ValueId> arguments) {
  std::vector<loops::InPlace> pairs;
  for (std::uint32_t from = 0; from < arguments.size(); ++from) {
    const lower::Value& read = values[arguments[from].index];
    if (read.storage != lower::Storage::parameter || !gives_memory(graph, read.parameter)) continue;
    for (std::uint32_t to = 0; to < arguments.size(); ++to) {
      const loops::InPlace pair{loops::Buffer{from}, loops::Buffer{to}};
      if (values[arguments[to].index].storage == lower::Storage::result && loops::is_in_place(program, pair))
        pairs.push_back(pair);
    }
  }
  return pairs;
}

std::vector<int> reused_parameters(const Variant& variant, std::span<const Argument> arguments,
                                   std::span<const Tensor> results) {
  const auto gives = [&](int parameter) { return gives_memory(variant.graph, parameter); };
  bool any = false;
  for (int p = 0; p < static_cast<int>(arguments.size()); ++p) any = any || gives(p);
  if (!any) return std::vector<int>(variant.values.size(), NO_PARAMETER);
  return Search(variant, arguments, results).run();
}

bool may_be_taken(std::span<const Argument> arguments, int parameter, ops::DType dtype) {
  const auto& taken = std::get<Tensor>(arguments[at(parameter)]);
  if (taken.data == nullptr) return true;
  const auto address = reinterpret_cast<std::uintptr_t>(taken.data);
  if (address % static_cast<std::uintptr_t>(ops::size_of(dtype)) != 0) return false;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* other = std::get_if<Tensor>(&arguments[p]);
    if (other == nullptr || p == at(parameter) || other->data == nullptr) continue;
    if (overlap(taken, *other)) return false;
  }
  return true;
}

}  // namespace twinloom::runtime
