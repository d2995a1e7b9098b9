// See library_execution.h.
#include "backends/cpu/library_execution.h"

#include <utility>

#include "backends/cpu/packed_memory.h"

namespace twinloom::cpu {

using onednn::functions;

Execution::Execution(const onednn::Primitive& primitive) : primitive_(primitive) {
  onednn::Handle made = nullptr;
  onednn::check(functions().stream_create(&made, functions().engine, onednn::STREAM_IN_ORDER), "a stream");
  stream_ = onednn::Owned(made, functions().stream_destroy);
  if (primitive.scratchpad_bytes == 0) return;
  scratchpad_ = onednn::memory_at(primitive.scratchpad.get(), nullptr);
  arguments_.push_back({onednn::SCRATCHPAD, scratchpad_.get()});
}

void Execution::add(int number, onednn::Handle description) {
  memories_.push_back(onednn::memory_at(description, nullptr));
  arguments_.push_back({number, memories_.back().get()});
}

void Execution::set(std::size_t argument, void* address) {
  onednn::check(functions().memory_set_data_handle(memories_[argument].get(), address), "a memory");
}

void Execution::run() {
  std::shared_ptr<std::byte> memory;
  if (scratchpad_ != nullptr) {
    memory = call_memory(primitive_.scratchpad_bytes);
    onednn::check(functions().memory_set_data_handle(scratchpad_.get(), memory.get()), "a memory");
  }
  onednn::check(functions().primitive_execute(primitive_.handle.get(), stream_.get(),
                                              static_cast<int>(arguments_.size()), arguments_.data()),
                "a call");
  onednn::check(functions().stream_wait(stream_.get()), "a call");
}

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
