// See bound_run.h.
#include "core/runtime/bound_run.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/runtime/run.h"
#include "core/runtime/steps.h"

namespace twinloom::runtime {

namespace {

constexpr std::size_t NO_SLOT = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t ALIGNMENT = 256;  // of a GPU's memory

std::int64_t aligned(std::int64_t bytes) { return ceil_div(bytes, ALIGNMENT) * ALIGNMENT; }

bool is_written(const graph::Graph& graph, std::size_t parameter) {
  return std::ranges::any_of(graph.results(), [&](const graph::Result& result) {
    return result.kind == graph::Ownership::written && result.input == static_cast<int>(parameter);
  });
}

}  // namespace

BoundRun::BoundRun(Kept kept, const graph::Graph& graph, std::shared_ptr<const Prepared> prepared,
                   std::shared_ptr<MemoryPool> memory, std::span<const Argument> arguments,
                   std::span<const Tensor> outputs)
    : kept_(std::move(kept)),
      graph_(graph),
      prepared_(std::move(prepared)),
      memory_(std::move(memory)),
      space_(memory_->space()),
      arguments_(arguments.begin(), arguments.end()),
      outputs_(outputs.begin(), outputs.end()),
      slots_(prepared_->memory.size(), NO_SLOT),
      beside_(prepared_->memory.size(), -1),
      workspace_bytes_(aligned(prepared_->plan.bytes)) {
  reach_parameters();
  const auto count = std::ranges::count(graph_.results(), graph::Ownership::own, &graph::Result::kind);
  if (outputs_.empty() && count != 0)
    throw Error(cat("a bound run has a tensor for each of the ", count,
                    " results that the graph computes; given were none"));
  const std::vector<Tensor> own = own_outputs(graph_, *prepared_, space_, outputs_);
  for (std::size_t v = 0; v < slots_.size(); ++v) place(v, own);
}

BoundRun::~BoundRun() = default;

void BoundRun::reach_parameters() {
  parameter_reach_.assign(arguments_.size(), NO_SLOT);
  for (std::size_t p = 0; p < arguments_.size(); ++p) {
    const auto* tensor = std::get_if<Tensor>(&arguments_[p]);
    if (tensor == nullptr || element_count(*tensor) == 0) continue;
    const auto [first, last] = extent_of(*tensor);
    const std::int64_t bytes = ops::size_of(tensor->dtype);
    parameter_reach_[p] = reaches_.size();
    reaches_.push_back({p, first * bytes, last * bytes, is_written(graph_, p)});
  }
}

// Where a value lies in each start. A result that only views show has no address.
void BoundRun::place(std::size_t v, const std::vector<Tensor>& own) {
  const lower::Value& value = prepared_->variant->values[v];
  if (value.storage == lower::Storage::parameter) slots_[v] = static_cast<std::size_t>(value.parameter);
  if (value.storage != lower::Storage::result) return;
  const auto kind = value.result < 0 ? graph::Ownership::view
                                     : graph_.results()[static_cast<std::size_t>(value.result)].kind;
  const auto& [sizes, strides] = prepared_->shapes[v];
  const Tensor layout = view_of(nullptr, value.dtype, sizes, strides);
  if (kind == graph::Ownership::written) return place_written(v, layout);
  const Tensor* output =
      kind == graph::Ownership::own && !own.empty() ? &own[static_cast<std::size_t>(value.result)] : nullptr;
  is_direct_ = is_direct_ && output != nullptr && same_places(*output, layout);
  if (output != nullptr) place_own(v, *output);
}

void BoundRun::place_own(std::size_t v, const Tensor& output) {
  const lower::Value& value = prepared_->variant->values[v];
  const auto before = std::span(graph_.results()).first(static_cast<std::size_t>(value.result));
  slots_[v] = arguments_.size() + static_cast<std::size_t>(std::ranges::count(before, graph::Ownership::own,
                                                                              &graph::Result::kind));
  if (element_count(output) == 0) return;
  const auto [first, last] = extent_of(output);
  const std::int64_t bytes = ops::size_of(output.dtype);
  reaches_.push_back({slots_[v], first * bytes, last * bytes, true, prepared_->reused[v], bytes});
}

void BoundRun::place_written(std::size_t v, const Tensor& layout) {
  const graph::Result& result =
      graph_.results()[static_cast<std::size_t>(prepared_->variant->values[v].result)];
  const auto slot = static_cast<std::size_t>(result.input);
  if (prepared_->reused[v] == result.input) {
    slots_[v] = slot;
    return;
  }
  is_direct_ = is_direct_ && same_places(std::get<Tensor>(arguments_[slot]), layout);
  const std::int64_t bytes = element_count(layout) * ops::size_of(layout.dtype);
  beside_[v] = workspace_bytes_;
  workspace_bytes_ += aligned(bytes);
  copied_.push_back({slot, v, bytes});
}

void BoundRun::check(std::span<void* const> addresses) const {
  const std::size_t expected = arguments_.size() + outputs_.size();
  if (addresses.size() != expected)
    throw Error(cat(addresses.size(), " addresses were given; expected ", expected, ", of ",
                    arguments_.size(), " arguments and ", outputs_.size(), " outputs"));
  for (const Reach& reach : reaches_) {
    if (addresses[reach.slot] != nullptr) continue;
    const bool is_argument = reach.slot < arguments_.size();
    throw Error(cat(is_argument ? "argument " : "output ",
                    is_argument ? reach.slot : reach.slot - arguments_.size(),
                    " has elements, and its address is NULL"));
  }
}

// Whether nothing that is written overlaps anything else; an output may take the memory that is meant for it.
bool BoundRun::lie_apart(std::span<void* const> addresses) const {
  struct Range {
    std::int64_t first, last;
    bool is_written;
  };
  std::vector<Range> ranges(reaches_.size());
  for (std::size_t k = 0; k < ranges.size(); ++k) {
    const Reach& reach = reaches_[k];
    const auto address = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(addresses[reach.slot]));
    ranges[k] = {address + reach.first, address + reach.last, reach.is_written};
    if (reach.reused == NO_PARAMETER) continue;
    const auto parameter = static_cast<std::size_t>(reach.reused);
    if (addresses[parameter] != addresses[reach.slot]) continue;
    if (address % reach.alignment != 0) return false;
    ranges[parameter_reach_[parameter]].is_written = true;
    ranges[k].last = ranges[k].first;
  }
  std::ranges::sort(ranges, {}, &Range::first);
  std::int64_t end = std::numeric_limits<std::int64_t>::min(), written_end = end;
  for (const auto& [first, last, written] : ranges) {
    if (first == last) continue;
    if (first < (written ? end : written_end)) return false;
    end = std::max(end, last);
    if (written) written_end = std::max(written_end, last);
  }
  return true;
}

void BoundRun::start(std::span<void* const> addresses, std::byte* workspace,
                     const RunOptions& options) const {
  check(addresses);
  if (!is_direct_ || options.keep_donated || options.after_step || !lie_apart(addresses))
    return start_apart(addresses, options);
  std::shared_ptr<std::byte> taken;
  if (workspace == nullptr && workspace_bytes_ != 0) {
    MemoryPool callers(space_, options.allocate);
    taken = (options.allocate ? callers : *memory_).take(workspace_bytes_, options.stream);
    if (taken == nullptr) throw out_of_memory(space_, "the intermediate results", workspace_bytes_);
    workspace = taken.get();
  }
  RunSettings settings = options.settings;
  settings.run = new_run();
  if (space_ == nullptr) return start_steps(addresses, workspace, options, settings);
  const std::lock_guard lock(mutex_);
  settings.work = &work_of(options.stream);
  start_steps(addresses, workspace, options, settings);
}

void BoundRun::start_steps(std::span<void* const> addresses, std::byte* workspace, const RunOptions& options,
                           RunSettings& settings) const {
  std::vector<Memory> values = prepared_->memory;
  for (std::size_t v = 0; v < values.size(); ++v) {
    if (slots_[v] != NO_SLOT) values[v].data = addresses[slots_[v]];
    if (beside_[v] >= 0) values[v].data = workspace + beside_[v];
  }
  runtime::start_steps(*prepared_, settings, [&](std::size_t step) {
    const auto failure = start_step(*prepared_, step, values, workspace, options, settings);
    if (failure) std::rethrow_exception(error_of(prepared_->variant->graph, *failure));
    return true;
  });
  for (const auto& [slot, value, bytes] : copied_) {
    if (bytes == 0) continue;
    if (space_ == nullptr)
      std::memcpy(addresses[slot], values[value].data, static_cast<std::size_t>(bytes));
    else
      space_->copy(addresses[slot], values[value].data, bytes, options.stream);
  }
}

// As any run, which copies what kernels cannot write where it belongs.
void BoundRun::start_apart(std::span<void* const> addresses, const RunOptions& options) const {
  std::vector<Argument> arguments = arguments_;
  std::vector<Tensor> outputs = outputs_;
  for (std::size_t p = 0; p < arguments.size(); ++p)
    if (auto* tensor = std::get_if<Tensor>(&arguments[p])) tensor->data = addresses[p];
  for (std::size_t k = 0; k < outputs.size(); ++k) outputs[k].data = addresses[arguments.size() + k];
  MemoryPool callers(space_, options.allocate);
  Constants none(space_);
  Run run(graph_, prepared_, {arguments, outputs, options.keep_donated},
          {options.allocate ? callers : *memory_, none, options.stream}, options);
  run.wait();
  run.outputs();
}

// Of the stream; the Error of an earlier start there, whose kernels it then waits for.
Work& BoundRun::work_of(Stream stream) const {
  auto found = std::ranges::find_if(works_, [&](const auto& work) { return work.first == stream; });
  if (found != works_.end() && found->second->failed()) {
    const std::unique_ptr<Work> work = std::move(found->second);
    works_.erase(found);
    work->close();
    if (const auto failure = work->wait())
      std::rethrow_exception(error_of(prepared_->variant->graph, *failure));
    found = works_.end();
  }
  if (found == works_.end()) found = works_.insert(found, {stream, space_->begin(stream)});
  return *found->second;
}

}  // namespace twinloom::runtime
