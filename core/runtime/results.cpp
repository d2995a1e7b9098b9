// See results.h.
#include "core/runtime/results.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/runtime/errors.h"

namespace twinloom::runtime {

namespace {

// Element by element, in any strides.
void copy_into(const Tensor& target, const Tensor& source, std::size_t axis, std::byte* to,
               const std::byte* from) {
  const std::int64_t bytes = ops::size_of(target.dtype);
  if (axis == target.sizes.size()) {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
    return;
  }
  for (std::int64_t i = 0; i < target.sizes[axis]; ++i) {
    copy_into(target, source, axis + 1, to + i * target.strides[axis] * bytes,
              from + i * source.strides[axis] * bytes);
  }
}

// The part of a tensor that a result is.
Tensor seen_in(const Tensor& base, const graph::StridedView& view) {
  Tensor tensor = base;
  tensor.sizes = view.sizes;
  tensor.strides = view.strides;
  if (base.data != nullptr)
    tensor.data = static_cast<std::byte*>(base.data) + view.offset * ops::size_of(base.dtype);
  return tensor;
}

// Memory of its own; where there is none, the words name the output.
Tensor new_result(const graph::Graph& graph, const lower::Value& value, const Prepared::Shape& shape,
                  const Sources& sources) {
  try {
    return allocate(value.dtype, shape.sizes, shape.strides, &sources.memory, sources.stream);
  } catch (const OutOfMemory& error) {
    const std::size_t result = result_in(graph, value);
    const std::string name = result < graph.results().size() ? graph.results()[result].name : "";
    throw OutOfMemory(
        cat("output ", result, name.empty() ? "" : cat(" '", escaped(name), "'"), ": ", error.what()),
        error.asked_bytes());
  }
}

// Error where the caller's tensor for a result has another type or shape, or elements in one place.
void check_output(const Tensor& tensor, std::size_t r, ops::DType dtype,
                  const std::vector<std::int64_t>& sizes) {
  const auto words = [](const std::vector<std::int64_t>& list) {
    return join(list, ", ", [](std::int64_t size) { return cat(size); });
  };
  if (tensor.dtype != dtype || tensor.sizes != sizes) {
    throw Error(cat("output ", r, " is ", ops::name(dtype), "[", words(sizes), "], given was ",
                    ops::name(tensor.dtype), "[", words(tensor.sizes), "]"));
  }
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (tensor.strides[axis] == 0 && sizes[axis] > 1)
      throw Error(cat("output ", r, " has stride 0 along axis ", axis, "; its elements must not overlap"));
  }
}

}  // namespace

bool same_places(const Tensor& a, const Tensor& b) {
  if (a.sizes != b.sizes) return false;
  for (std::size_t axis = 0; axis < a.sizes.size(); ++axis)
    if (a.sizes[axis] > 1 && a.strides[axis] != b.strides[axis]) return false;
  const Bytes bytes = bytes_of(a);
  return bytes.last - bytes.first == element_count(a) * ops::size_of(a.dtype);
}

std::vector<Tensor> own_outputs(const graph::Graph& graph, const Prepared& prepared, const Space* space,
                                std::span<const Tensor> given) {
  if (given.empty()) return {};
  std::vector<Tensor> outputs(graph.results().size());
  std::size_t next = 0;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const graph::Result& result = graph.results()[r];
    if (result.kind != graph::Ownership::own) continue;
    if (next == given.size()) break;
    outputs[r] = given[next++];
    check_output(outputs[r], r, graph[result.value].dtype, prepared.own_sizes[r]);
    if (outputs[r].device != (space == nullptr ? HOST : space->device()))
      throw Error(cat("output ", r, " does not lie in the memory that the graph was compiled for"));
  }
  const auto own = std::ranges::count(graph.results(), graph::Ownership::own, &graph::Result::kind);
  if (next != given.size() || static_cast<std::size_t>(own) != given.size()) {
    throw Error(cat("the graph has ", own, " outputs of its own, given were ", given.size(), " tensors"));
  }
  return outputs;
}

std::size_t result_in(const graph::Graph& graph, const lower::Value& value) {
  if (value.result >= 0) return static_cast<std::size_t>(value.result);
  const auto is_view = [&](const graph::Result& result) {
    return result.kind == graph::Ownership::view && result.base == value.node;
  };
  return static_cast<std::size_t>(std::ranges::find_if(graph.results(), is_view) - graph.results().begin());
}

Results::Results(const graph::Graph& graph, const Prepared& prepared, const Given& given,
                 const Sources& sources)
    : graph_(graph),
      prepared_(prepared),
      arguments_(given.arguments),
      space_(sources.memory.space()),
      stream_(sources.stream),
      memory_(prepared.memory),
      tensors_(memory_.size()),
      own_(own_outputs(graph, prepared, space_, given.outputs)) {
  for (std::size_t v = 0; v < memory_.size(); ++v) {
    const lower::Value& value = prepared_.variant->values[v];
    if (value.storage == lower::Storage::parameter)
      memory_[v].data = std::get<Tensor>(arguments_[static_cast<std::size_t>(value.parameter)]).data;
    if (value.storage != lower::Storage::result) continue;
    tensors_[v] = result_memory(v, given, sources);
    memory_[v].data = tensors_[v].data;
  }
  check_overlap(given.keep_donated);
  check_written();
}

// The caller's tensor, a parameter's memory, or new memory.
Tensor Results::result_memory(std::size_t v, const Given& given, const Sources& sources) const {
  const lower::Value& value = prepared_.variant->values[v];
  const auto& [sizes, strides] = prepared_.shapes[v];
  if (!own_.empty() && value.result >= 0) {
    const Tensor& own = own_[static_cast<std::size_t>(value.result)];
    if (own.data != nullptr && own.strides == strides && own.sizes == sizes) return own;
  }
  const int parameter = given.keep_donated ? NO_PARAMETER : prepared_.reused[v];
  if (parameter == NO_PARAMETER || !may_be_taken(arguments_, parameter, value.dtype))
    return new_result(prepared_.variant->graph, value, prepared_.shapes[v], sources);
  Tensor taken = std::get<Tensor>(arguments_[static_cast<std::size_t>(parameter)]);
  taken.dtype = value.dtype;
  taken.sizes = sizes;
  taken.strides = strides;
  return taken;
}

bool Results::is_taken(std::size_t result, std::size_t parameter) const {
  const auto number = static_cast<int>(parameter);
  const void* const memory = std::get<Tensor>(arguments_[parameter]).data;
  for (std::size_t v = 0; v < tensors_.size(); ++v) {
    const lower::Value& value = prepared_.variant->values[v];
    if (value.result != static_cast<int>(result) || prepared_.reused[v] != number) continue;
    return own_[result].data == memory && tensors_[v].data == memory &&
           same_places(own_[result], tensors_[v]) && may_be_taken(arguments_, number, value.dtype);
  }
  return false;
}

void Results::check_overlap(bool keep_donated) const {
  for (std::size_t r = 0; r < own_.size(); ++r) {
    if (own_[r].data == nullptr) continue;
    for (std::size_t p = 0; p < arguments_.size(); ++p) {
      const auto* tensor = std::get_if<Tensor>(&arguments_[p]);
      if (tensor != nullptr && overlap(own_[r], *tensor) && (keep_donated || !is_taken(r, p))) {
        throw Error(
            cat("output ", r, " overlaps parameter '", escaped(graph_.parameters()[p].name), "' in memory"));
      }
    }
    for (std::size_t other = 0; other < r; ++other) {
      if (own_[other].data != nullptr && overlap(own_[r], own_[other]))
        throw Error(cat("outputs ", other, " and ", r, " overlap in memory"));
    }
  }
}

// What is written must not depend on the order of the writes.
void Results::check_written() const {
  for (std::size_t r = 0; r < graph_.results().size(); ++r) {
    const graph::Result& result = graph_.results()[r];
    if (result.kind != graph::Ownership::written) continue;
    const auto& tensor = std::get<Tensor>(arguments_[static_cast<std::size_t>(result.input)]);
    const auto name = [&](int parameter) {
      return escaped(graph_.parameters()[static_cast<std::size_t>(parameter)].name);
    };
    for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
      if (tensor.strides[axis] == 0 && tensor.sizes[axis] > 1)
        throw Error(cat("parameter '", name(result.input), "' is written and has stride 0 along axis ", axis,
                        "; its elements must not overlap"));
    }
    for (std::size_t other = 0; other < r; ++other) {
      const graph::Result& before = graph_.results()[other];
      if (before.kind != graph::Ownership::written || before.input == result.input) continue;
      if (overlap(tensor, std::get<Tensor>(arguments_[static_cast<std::size_t>(before.input)])))
        throw Error(cat("parameters '", name(before.input), "' and '", name(result.input),
                        "' are written and overlap in memory"));
    }
  }
}

void Results::copy(const Tensor& target, const Tensor& source) const {
  const auto copy = [](const Tensor& to, const Tensor& from) {
    copy_into(to, from, 0, static_cast<std::byte*>(to.data), static_cast<const std::byte*>(from.data));
  };
  const Bytes to = bytes_of(target);
  if (same_places(target, source)) {
    if (space_ == nullptr)
      std::memcpy(to.first, bytes_of(source).first, static_cast<std::size_t>(to.last - to.first));
    else
      space_->copy(to.first, bytes_of(source).first, to.last - to.first, stream_);
    return;
  }
  if (space_ == nullptr) return copy(target, source);
  const Tensor changed = downloaded(target, *space_);
  copy(changed, downloaded(source, *space_));
  space_->upload(to.first, bytes_of(changed).first, to.last - to.first);
}

const Tensor* Results::target_of(std::size_t value, std::size_t r) const {
  const graph::Result& result = graph_.results()[r];
  const bool written = result.kind == graph::Ownership::written;
  if (!written && own_.empty()) return nullptr;
  const Tensor& target =
      written ? std::get<Tensor>(arguments_[static_cast<std::size_t>(result.input)]) : own_[r];
  const bool copied = target.data != nullptr && target.data != tensors_[value].data;
  return copied && element_count(target) != 0 ? &target : nullptr;
}

void Results::write() const {
  for (std::size_t v = 0; v < tensors_.size(); ++v) {
    const int r = prepared_.variant->values[v].result;
    if (r < 0 || graph_.results()[static_cast<std::size_t>(r)].kind != graph::Ownership::written) continue;
    const Tensor* target = target_of(v, static_cast<std::size_t>(r));
    if (target != nullptr && (space_ == nullptr || same_places(*target, tensors_[v])))
      copy(*target, tensors_[v]);
  }
}

Tensor Results::row_major(const Tensor& given) const {
  return space_ == nullptr ? contiguous(given) : uploaded(contiguous(downloaded(given, *space_)), *space_);
}

bool Results::waits() const {
  if (std::ranges::any_of(prepared_.seen, &Prepared::Seen::copied)) return true;
  for (std::size_t v = 0; v < tensors_.size(); ++v) {
    const int result = prepared_.variant->values[v].result;
    if (result < 0) continue;
    const Tensor* target = target_of(v, static_cast<std::size_t>(result));
    if (target != nullptr && !same_places(*target, tensors_[v])) return true;
  }
  return false;
}

// A view of what is copied for the caller is one of what the kernels wrote.
std::vector<Output> Results::take() const {
  std::vector<Output> outputs(graph_.results().size());
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const graph::Result& result = graph_.results()[r];
    const auto& [value, copied, view] = prepared_.seen[r];
    if (result.kind == graph::Ownership::size) outputs[r] = index::evaluate(result.size, prepared_.values);
    if (result.kind == graph::Ownership::view) outputs[r] = seen_in(tensors_[value], view);
    if (result.kind != graph::Ownership::input) continue;
    const auto& given = std::get<Tensor>(arguments_[static_cast<std::size_t>(result.input)]);
    outputs[r] = seen_in(copied ? row_major(given) : given, view);
  }
  for (std::size_t v = 0; v < tensors_.size(); ++v) {
    if (prepared_.variant->values[v].result < 0) continue;
    const auto r = static_cast<std::size_t>(prepared_.variant->values[v].result);
    const graph::Result& result = graph_.results()[r];
    const bool written = result.kind == graph::Ownership::written;
    const Tensor* target = target_of(v, r);
    const bool is_done =
        written && (space_ == nullptr || (target != nullptr && same_places(*target, tensors_[v])));
    if (target != nullptr && !is_done) copy(*target, tensors_[v]);
    outputs[r] = tensors_[v];
    if (!own_.empty() && own_[r].data != nullptr) outputs[r] = own_[r];
    if (written) outputs[r] = std::get<Tensor>(arguments_[static_cast<std::size_t>(result.input)]);
  }
  return outputs;
}

}  // namespace twinloom::runtime
