// Values by key, each made once, but for what was forgotten: when there are as many as there may be, all are.
// Thread-safe; one value is made at a time.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace twinloom {

template <class Key, class Value>
class BoundedCache {
 public:
  explicit BoundedCache(std::size_t most) : most_(most) {}
  // What `make` throws is thrown, and nothing is cached.
  template <class Make>
  Value get(const Key& key, const Make& make) {
    const std::lock_guard lock(mutex_);
    if (const auto found = values_.find(key); found != values_.end()) return found->second;
    Value made = make();
    if (values_.size() >= most_) values_.clear();
    values_.emplace(key, made);
    return made;
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::map<Key, Value> values_;
};

}  // namespace twinloom
