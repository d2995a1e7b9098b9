// See watched_device.h.
#include "tests/tool/watched_device.h"

#include <algorithm>

#include "core/base/text.h"

namespace twinloom::tests {

namespace {

class WatchedSpace final : public runtime::Space {
 public:
  WatchedSpace(const runtime::Space& inner, std::shared_ptr<Watched> watched)
      : inner_(inner), watched_(std::move(watched)) {}
  int device() const override { return inner_.device(); }
  runtime::Block allocate(std::int64_t bytes, runtime::Stream stream) const override {
    runtime::Block block = inner_.allocate(bytes, stream);
    if (block == nullptr) return block;
    watched_->live_bytes += bytes;
    watched_->most_live_bytes = std::max(watched_->most_live_bytes, watched_->live_bytes);
    const auto give_back = [watched = watched_, bytes, end = block.get_deleter()](void* memory) {
      watched->live_bytes -= bytes;
      end(memory);
    };
    return {block.release(), give_back};
  }
  void trim() const override { inner_.trim(); }
  std::int64_t free_bytes() const override { return inner_.free_bytes(); }
  void order(runtime::Stream first, runtime::Stream then) const override { inner_.order(first, then); }
  void upload(void* to, const void* from, std::int64_t bytes) const override {
    inner_.upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::int64_t bytes) const override {
    inner_.download(to, from, bytes);
  }
  void wait() const override { inner_.wait(); }
  std::unique_ptr<runtime::Work> begin(runtime::Stream stream) const override {
    watched_->asked.emplace_back("begin");
    return inner_.begin(stream);
  }
  std::unique_ptr<runtime::Event> record(runtime::Stream stream) const override {
    watched_->asked.emplace_back("record");
    return inner_.record(stream);
  }
  double seconds(const runtime::Event& from, const runtime::Event& to) const override {
    return inner_.seconds(from, to);
  }
  void copy(void* to, const void* from, std::int64_t bytes, runtime::Stream stream) const override {
    watched_->asked.emplace_back("copy");
    inner_.copy(to, from, bytes, stream);
  }
  void clear(void* to, std::int64_t bytes, runtime::Stream stream) const override {
    watched_->asked.push_back(cat("clear ", bytes));
    inner_.clear(to, bytes, stream);
  }

 private:
  const runtime::Space& inner_;
  std::shared_ptr<Watched> watched_;
};

class WatchedDevice final : public runtime::Backend {
 public:
  WatchedDevice(std::shared_ptr<const runtime::Backend> inner, std::shared_ptr<Watched> watched)
      : inner_(std::move(inner)), space_(*inner_->space(), std::move(watched)) {}
  std::string name() const override { return inner_->name(); }
  std::string describe() const override { return inner_->describe(); }
  const machine::Machine& machine() const override { return inner_->machine(); }
  const runtime::Space* space() const override { return &space_; }
  bool runs_nests() const override { return inner_->runs_nests(); }
  runtime::Built build(const loops::Program& program) const override { return inner_->build(program); }

 private:
  std::shared_ptr<const runtime::Backend> inner_;
  WatchedSpace space_;
};

}  // namespace

std::shared_ptr<const runtime::Backend> watched_device(std::shared_ptr<const runtime::Backend> inner,
                                                       std::shared_ptr<Watched> watched) {
  return std::make_shared<const WatchedDevice>(std::move(inner), std::move(watched));
}

}  // namespace twinloom::tests
