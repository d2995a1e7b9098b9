// What nobody uses, for the next user. Thread-safe.
#pragma once

#include <mutex>
#include <vector>

namespace twinloom::cuda {

template <class Item>
class FreeList {
 public:
  // One of them; where there is none, `make` gives one, and may give back others that it made with it.
  template <class Make>
  Item take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        const Item item = free_.back();
        free_.pop_back();
        return item;
      }
    }
    return make();
  }
  void give_back(Item item) {
    const std::lock_guard lock(mutex_);
    free_.push_back(item);
  }

 private:
  std::mutex mutex_;
  std::vector<Item> free_;
};

}  // namespace twinloom::cuda
