// See sealed_device.h.
#include "tests/support/sealed/sealed_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::tests {

namespace {

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

// All pages of the device, by address.
class Pages {
 public:
  std::byte* take(std::int64_t bytes) {
    const std::int64_t size = ceil_div(std::max<std::int64_t>(bytes, 1), page()) * page();
    void* const memory = mmap(nullptr, size_of(size), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    sizes_[static_cast<std::byte*>(memory)] = size;
    return static_cast<std::byte*>(memory);
  }
  void give_back(std::byte* memory) {
    munmap(memory, size_of(sizes_.at(memory)));
    sizes_.erase(memory);
  }
  void allow(int access) const {
    for (const auto& [memory, size] : sizes_)
      CHECK(mprotect(memory, size_of(size), access) == 0, "pages do not take access ", access);
  }

 private:
  static std::int64_t page() { return sysconf(_SC_PAGESIZE); }
  std::map<std::byte*, std::int64_t> sizes_;
};

// As long as it lives the pages are open.
class Opened {
 public:
  explicit Opened(const Pages& pages) : pages_(pages) { pages_.allow(PROT_READ | PROT_WRITE); }
  ~Opened() { pages_.allow(PROT_NONE); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  const Pages& pages_;
};

using Clock = std::chrono::steady_clock;

// All that was started is done.
struct SealedEvent final : runtime::Event {
  Clock::time_point at = Clock::now();
  bool reached() const override { return true; }
  void wait() const override {}
};

struct SealedWork final : runtime::Work {
  std::optional<runtime::Failure> failure;
  runtime::Stream stream() const override { return nullptr; }
  void close() override {}
  bool done() const override { return true; }
  bool failed() const override { return failure.has_value(); }
  std::optional<runtime::Failure> wait() override { return failure; }
};

class SealedSpace final : public runtime::Space {
 public:
  int device() const override { return 0; }
  runtime::Block allocate(std::int64_t bytes, runtime::Stream) const override {
    return {pages_->take(bytes),
            [pages = pages_](void* memory) { pages->give_back(static_cast<std::byte*>(memory)); }};
  }
  void trim() const override {}
  std::int64_t free_bytes() const override { return std::int64_t{1} << 32; }
  void order(runtime::Stream, runtime::Stream) const override {}
  void upload(void* to, const void* from, std::int64_t bytes) const override { copy(to, from, bytes, nullptr); }
  void download(void* to, const void* from, std::int64_t bytes) const override {
    copy(to, from, bytes, nullptr);
  }
  void wait() const override {}
  std::unique_ptr<runtime::Work> begin(runtime::Stream) const override {
    return std::make_unique<SealedWork>();
  }
  std::unique_ptr<runtime::Event> record(runtime::Stream) const override {
    return std::make_unique<SealedEvent>();
  }
  double seconds(const runtime::Event& from, const runtime::Event& to) const override {
    const auto at = [](const runtime::Event& event) { return static_cast<const SealedEvent&>(event).at; };
    return std::max(1e-9, std::chrono::duration<double>(at(to) - at(from)).count());
  }
  void copy(void* to, const void* from, std::int64_t bytes, runtime::Stream) const override {
    const Opened opened(*pages_);
    std::memcpy(to, from, size_of(bytes));
  }
  void clear(void* to, std::int64_t bytes, runtime::Stream) const override {
    const Opened opened(*pages_);
    std::memset(to, 0, size_of(bytes));
  }
  const Pages& pages() const { return *pages_; }

 private:
  std::shared_ptr<Pages> pages_ = std::make_shared<Pages>();  // blocks that are given back late know them
};

class SealedKernel final : public runtime::Kernel {
 public:
  SealedKernel(std::unique_ptr<const runtime::Kernel> inner, const SealedSpace& space)
      : inner_(std::move(inner)), space_(space) {}
  std::optional<runtime::Failure> run(std::span<const runtime::Memory> arguments,
                                      std::span<const std::int64_t> sizes,
                                      const runtime::RunSettings& settings) const override {
    auto& work = static_cast<SealedWork&>(*settings.work);
    runtime::RunSettings inside = settings;
    inside.work = nullptr;
    const Opened opened(space_.pages());
    const auto failure = inner_->run(arguments, sizes, inside);
    if (!work.failure) work.failure = failure;
    return std::nullopt;
  }
  std::int64_t tasks(std::span<const std::int64_t> sizes) const override { return inner_->tasks(sizes); }

 private:
  std::unique_ptr<const runtime::Kernel> inner_;
  const SealedSpace& space_;
};

class SealedDevice final : public runtime::Backend {
 public:
  explicit SealedDevice(std::shared_ptr<const runtime::Backend> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return "sealed"; }
  std::string describe() const override { return cat("sealed: ", inner_->describe()); }
  const machine::Machine& machine() const override { return inner_->machine(); }
  const runtime::Space* space() const override { return &space_; }
  bool runs_nests() const override { return inner_->runs_nests(); }
  runtime::Built build(const loops::Program& program) const override {
    runtime::Built built = inner_->build(program);
    built.kernel = std::make_unique<const SealedKernel>(std::move(built.kernel), space_);
    return built;
  }

 private:
  std::shared_ptr<const runtime::Backend> inner_;
  SealedSpace space_;
};

}  // namespace

std::shared_ptr<const runtime::Backend> sealed_device(std::shared_ptr<const runtime::Backend> inner) {
  return std::make_shared<const SealedDevice>(std::move(inner));
}

}  // namespace twinloom::tests
