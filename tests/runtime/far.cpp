// See far.h.
#include "tests/runtime/far.h"

#include <cstdlib>
#include <cstring>

namespace twinloom::tests {

namespace {

constexpr int POISON = 0xdd;

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

class FarEvent final : public runtime::Event {
 public:
  FarEvent(const FarSpace& space, FarQueue& queue)
      : space_(space), queue_(queue), place_(queue.work.size()) {}
  bool reached() const override { return space_.is_lost() || queue_.done >= place_; }
  void wait() const override {
    if (space_.is_lost()) throw runtime::DeviceLost("the far device is lost");
    queue_.run(place_);
  }

 private:
  const FarSpace& space_;
  FarQueue& queue_;
  std::size_t place_;
};

class FarWork final : public runtime::Work {
 public:
  FarWork(const FarSpace& space, runtime::Stream stream) : space_(space), stream_(stream) {}
  ~FarWork() override {
    if (!space_.is_lost()) FarEvent(space_, queue()).wait();
  }
  runtime::Stream stream() const override { return stream_; }
  void close() override { end_ = space_.record(stream_); }
  bool done() const override { return end_->reached(); }
  bool failed() const override { return failure_->has_value(); }
  std::optional<runtime::Failure> wait() override {
    end_->wait();
    return *failure_;
  }
  FarQueue& queue() const { return space_.queue(stream_); }
  const std::shared_ptr<std::optional<runtime::Failure>>& failure() const { return failure_; }

 private:
  const FarSpace& space_;
  runtime::Stream stream_;
  std::unique_ptr<runtime::Event> end_;
  std::shared_ptr<std::optional<runtime::Failure>> failure_ =
      std::make_shared<std::optional<runtime::Failure>>();
};

class FarKernel final : public runtime::Kernel {
 public:
  explicit FarKernel(loops::Program program) : program_(std::move(program)) {}
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override {
    const auto& work = static_cast<FarWork&>(*settings.work);
    work.queue().work.emplace_back([this, failure = work.failure(),
                                    memory = std::vector(arguments.begin(), arguments.end()),
                                    numbers = std::vector(sizes.begin(), sizes.end())] {
      const auto failed = loops::interpret(program_, memory, numbers);
      if (failed && !*failure) *failure = failed;
    });
    return std::nullopt;
  }

 private:
  loops::Program program_;
};

class FarBackend final : public runtime::Backend {
 public:
  explicit FarBackend(const FarSpace& space) : space_(space) {
    machine_.name = "far";
    machine_.memory = {{"memory", 0, 1e9}};
  }
  std::string name() const override { return "far"; }
  std::string describe() const override { return "far: interprets later"; }
  const machine::Machine& machine() const override { return machine_; }
  const runtime::Space* space() const override { return &space_; }
  bool runs_nests() const override { return true; }
  runtime::Built build(const loops::Program& program) const override {
    return {std::make_unique<const FarKernel>(program), {}, 0};
  }

 private:
  const FarSpace& space_;
  machine::Machine machine_;
};

}  // namespace

void FarQueue::run(std::size_t count) {
  while (done < count) work[done++]();
}

FarSpace::FarSpace(std::int64_t capacity) : state_(std::make_shared<State>(State{capacity})) {}

runtime::Block FarSpace::allocate(std::int64_t bytes, runtime::Stream) const {
  if (state_->used + bytes > state_->capacity) return {nullptr, {}};
  state_->used += bytes;
  auto* const memory = static_cast<std::byte*>(std::malloc(size_of(bytes)));
  std::memset(memory, POISON, size_of(bytes));
  return {memory, [state = state_, bytes](void* block) {
            state->used -= bytes;
            std::memset(block, POISON, size_of(bytes));
            std::free(block);
          }};
}

void FarSpace::order(runtime::Stream first, runtime::Stream then) const {
  ++state_->orders;
  FarQueue& before = queue(first);
  queue(then).work.emplace_back([&before, count = before.work.size()] { before.run(count); });
}

void FarSpace::upload(void* to, const void* from, std::int64_t bytes) const {
  wait();
  std::memcpy(to, from, size_of(bytes));
}
void FarSpace::download(void* to, const void* from, std::int64_t bytes) const {
  wait();
  std::memcpy(to, from, size_of(bytes));
}
void FarSpace::wait() const { FarEvent(*this, own_).wait(); }

std::unique_ptr<runtime::Work> FarSpace::begin(runtime::Stream stream) const {
  if (is_lost()) throw runtime::DeviceLost("the far device is lost");
  return std::make_unique<FarWork>(*this, stream);
}
std::unique_ptr<runtime::Event> FarSpace::record(runtime::Stream stream) const {
  return std::make_unique<FarEvent>(*this, queue(stream));
}
double FarSpace::seconds(const runtime::Event&, const runtime::Event& to) const {
  to.wait();
  return 1;
}
void FarSpace::copy(void* to, const void* from, std::int64_t bytes, runtime::Stream stream) const {
  queue(stream).work.emplace_back([=] { std::memcpy(to, from, size_of(bytes)); });
}
void FarSpace::clear(void* to, std::int64_t bytes, runtime::Stream stream) const {
  queue(stream).work.emplace_back([=] { std::memset(to, 0, size_of(bytes)); });
}

std::shared_ptr<const runtime::Backend> far_backend(const FarSpace& space) {
  return std::make_shared<const FarBackend>(space);
}

}  // namespace twinloom::tests
