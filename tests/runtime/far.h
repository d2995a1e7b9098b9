// A device of its own that is memory of this process: work on it waits in queues, one a stream, until
// somebody waits for it, so what would be used too early or given back too early shows. It has as much memory
// as a test says.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/backend.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::tests {

// What a stream has to do, in order; `done` of it are done.
struct FarQueue {
  std::vector<std::function<void()>> work;
  std::size_t done = 0;
  // Does what is left of the first `count`.
  void run(std::size_t count);
};

class FarSpace final : public runtime::Space {
 public:
  static constexpr int NUMBER = 3;
  explicit FarSpace(std::int64_t capacity = std::int64_t{1} << 30);
  int device() const override { return NUMBER; }
  runtime::Block allocate(std::int64_t bytes, runtime::Stream stream) const override;
  void trim() const override { ++state_->trims; }
  std::int64_t free_bytes() const override { return state_->capacity - state_->used; }
  void order(runtime::Stream first, runtime::Stream then) const override;
  void upload(void* to, const void* from, std::int64_t bytes) const override;
  void download(void* to, const void* from, std::int64_t bytes) const override;
  void wait() const override;
  std::unique_ptr<runtime::Work> begin(runtime::Stream stream) const override;
  std::unique_ptr<runtime::Event> record(runtime::Stream stream) const override;
  double seconds(const runtime::Event& from, const runtime::Event& to) const override;
  void copy(void* to, const void* from, std::int64_t bytes, runtime::Stream stream) const override;
  void clear(void* to, std::int64_t bytes, runtime::Stream stream) const override;

  FarQueue& queue(runtime::Stream stream) const {
    return stream == nullptr ? own_ : *static_cast<FarQueue*>(stream);
  }
  // From here on nothing works.
  void lose() const { state_->lost = true; }
  bool is_lost() const { return state_->lost; }
  int trims() const { return state_->trims; }
  int orders() const { return state_->orders; }
  std::int64_t used_bytes() const { return state_->used; }

 private:
  struct State {
    std::int64_t capacity, used = 0;
    int trims = 0, orders = 0;
    bool lost = false;
  };
  std::shared_ptr<State> state_;  // blocks that are given back late know it
  mutable FarQueue own_;
};

// Interprets nests on the space, which outlives it.
std::shared_ptr<const runtime::Backend> far_backend(const FarSpace& space);

}  // namespace twinloom::tests
