// See library_execution.h.
#include "backends/cpu/library_execution.h"

#include <utility>

#include "backends/cpu/library_packing.h"

namespace twinloom::cpu {

using onednn::functions;

Stream::Stream() {
  onednn::check(functions().stream_create(&stream_, functions().engine, onednn::STREAM_IN_ORDER), "a stream");
}

Stream::~Stream() { functions().stream_destroy(stream_); }

void Execution::add(int number, onednn::Handle description) {
  memories_.push_back(onednn::memory_at(description, nullptr));
  arguments_.push_back({number, memories_.back().get()});
}

void Execution::set(std::size_t argument, void* address) {
  onednn::check(functions().memory_set_data_handle(memories_[argument].get(), address), "a memory");
}

void Execution::run() { execute(stream_.get(), primitive_, arguments_); }

std::unique_ptr<Execution> Executions::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Execution> taken = std::move(idle_.back());
  idle_.pop_back();
  return taken;
}

void Executions::give_back(std::unique_ptr<Execution> execution) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(execution));
}

}  // namespace twinloom::cpu
