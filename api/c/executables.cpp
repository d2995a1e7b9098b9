// Running by the C API. See handles.h.
#include <algorithm>

#include "api/c/arguments.h"
#include "api/c/dlpack.h"
#include "api/c/handles.h"
#include "api/c/run_options.h"

namespace {

using twinloom::cat;
using twinloom::Error;
using twinloom::c::arguments_of;
using twinloom::c::checked;
using twinloom::c::guarded;
using twinloom::c::set_settings;
using twinloom::c::Settings;

// The caller's tensors for the results that the graph computes: one for each or none.
std::vector<twinloom::Tensor> outputs_of(const twinloom::graph::Graph& graph, const twinloom_value* results,
                                         std::size_t count, bool need_data = true) {
  const auto& expected = graph.results();
  if (count != expected.size())
    throw Error(cat(count, " results were asked for; the graph has ", expected.size()));
  if (count != 0) checked(results, "results");
  std::vector<twinloom::Tensor> outputs;
  std::size_t own = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool computed = expected[i].kind == twinloom::graph::Ownership::own;
    own += computed ? 1 : 0;
    if (results[i].kind == TWINLOOM_NONE) continue;
    if (results[i].kind != TWINLOOM_TENSOR || !computed) {
      throw Error(cat("result ", i, " is of kind ", results[i].kind, "; expected TWINLOOM_NONE (0)",
                      computed ? " or TWINLOOM_TENSOR (1)" : ", for nothing is computed for it"));
    }
    outputs.push_back(twinloom::c::tensor_of(results[i].as.tensor, cat("result ", i), need_data));
  }
  if (!outputs.empty() && outputs.size() != own)
    throw Error(cat(outputs.size(), " of the ", own,
                    " results that the graph computes have a tensor; expected all or none"));
  return outputs;
}

twinloom_value value_of(const twinloom::Output& output) {
  twinloom_value value{};
  if (const auto* size = std::get_if<std::int64_t>(&output)) {
    value.kind = TWINLOOM_SIZE;
    value.as.size = *size;
  } else if (const auto* tensor = std::get_if<twinloom::Tensor>(&output)) {
    value.kind = TWINLOOM_MANAGED;
    value.as.managed = twinloom::c::managed(*tensor);
  }
  return value;
}

// Written into all of `results` that have no tensor or, where it throws, into none.
void give(const std::vector<twinloom::Output>& outputs, twinloom_value* results) {
  std::vector<twinloom_value> given(results, results + outputs.size());
  try {
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (given[i].kind == TWINLOOM_NONE) given[i] = value_of(outputs[i]);
  } catch (...) {
    for (twinloom_value& value : given) twinloom_value_release(&value);
    throw;
  }
  std::ranges::copy(given, results);
}

}  // namespace

void twinloom_executable_free(twinloom_executable* executable) { delete executable; }

twinloom_error* twinloom_prepare(const twinloom_executable* executable, const twinloom_value* arguments,
                                 size_t argument_count) {
  return guarded([&] {
    checked(executable, "executable").executable.variant(arguments_of(arguments, argument_count, false));
  });
}

twinloom_error* twinloom_peak_bytes(const twinloom_executable* executable, const twinloom_value* arguments,
                                    size_t argument_count, int64_t* bytes) {
  return guarded([&] {
    checked(bytes, "bytes");
    *bytes = checked(executable, "executable")
                 .executable.peak_bytes(arguments_of(arguments, argument_count, false));
  });
}

twinloom_error* twinloom_reuses(const twinloom_executable* executable, const twinloom_value* arguments,
                                size_t argument_count, int32_t* parameters, size_t result_count) {
  return guarded([&] {
    const twinloom::Executable& run = checked(executable, "executable").executable;
    const std::size_t expected = run.graph().results().size();
    if (result_count != expected)
      throw Error(cat(result_count, " results were asked for; the graph has ", expected));
    if (result_count != 0) checked(parameters, "parameters");
    std::fill_n(parameters, result_count, -1);
    for (const auto& [result, parameter, bytes] : run.reuses(arguments_of(arguments, argument_count, false)))
      parameters[result] = parameter;
  });
}

twinloom_error* twinloom_run(const twinloom_executable* executable, const twinloom_value* arguments,
                             size_t argument_count, const twinloom_run_options* options,
                             twinloom_value* results, size_t result_count) {
  return guarded([&] {
    const twinloom::Executable& run = checked(executable, "executable").executable;
    Settings settings;
    set_settings(settings, options);
    const auto outputs = outputs_of(run.graph(), results, result_count);
    give(run.run(arguments_of(arguments, argument_count, true), settings.options, outputs), results);
  });
}

twinloom_error* twinloom_start(const twinloom_executable* executable, const twinloom_value* arguments,
                               size_t argument_count, const twinloom_run_options* options,
                               twinloom_value* results, size_t result_count, twinloom_pending** pending) {
  return guarded([&] {
    checked(pending, "pending");
    const twinloom::Executable& run = checked(executable, "executable").executable;
    Settings settings;
    set_settings(settings, options);
    const auto outputs = outputs_of(run.graph(), results, result_count);
    auto started = std::make_unique<twinloom_pending>(
        run.start(arguments_of(arguments, argument_count, true), settings.options, outputs));
    give(started->pending.outputs(), results);
    *pending = started.release();
  });
}

twinloom_error* twinloom_pending_wait(twinloom_pending* pending) {
  return guarded([&] { checked(pending, "pending").pending.wait(); });
}

int twinloom_pending_ready(const twinloom_pending* pending) {
  return pending == nullptr || pending->pending.ready() ? 1 : 0;
}

void twinloom_pending_free(twinloom_pending* pending) { delete pending; }

twinloom_error* twinloom_bind(const twinloom_executable* executable, const twinloom_value* arguments,
                              size_t argument_count, const twinloom_value* results, size_t result_count,
                              twinloom_bound_run** bound) {
  return guarded([&] {
    checked(bound, "bound");
    const twinloom::Executable& run = checked(executable, "executable").executable;
    const auto outputs = outputs_of(run.graph(), results, result_count, false);
    *bound = new twinloom_bound_run{run.bind(arguments_of(arguments, argument_count, false), outputs)};
  });
}

void twinloom_bound_free(twinloom_bound_run* bound) { delete bound; }

size_t twinloom_bound_workspace(const twinloom_bound_run* bound) {
  return bound == nullptr ? 0 : static_cast<std::size_t>(bound->run->workspace_bytes());
}

twinloom_error* twinloom_bound_start(const twinloom_bound_run* bound, void* const* addresses, size_t count,
                                     void* workspace, const twinloom_run_options* options) {
  return guarded([&] {
    const auto& run = *checked(bound, "bound").run;
    if (count != 0) checked(addresses, "addresses");
    Settings settings;
    set_settings(settings, options);
    run.start({addresses, count}, static_cast<std::byte*>(workspace), settings.options);
  });
}

void twinloom_value_release(twinloom_value* value) {
  if (value == nullptr || value->kind != TWINLOOM_MANAGED) return;
  if (value->as.managed != nullptr && value->as.managed->deleter != nullptr)
    value->as.managed->deleter(value->as.managed);
  *value = {TWINLOOM_NONE, {}};
}
