// What several threads ask for at the same time is made by the first of them, and the others wait for it:
//   making.get(source, [&] { return compile(source); })
// Nothing is kept: who asks later makes it again. Thread-safe.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace twinloom {

class MakeOnce {
 public:
  // What `make` gives or throws, of this thread or of the one that makes it.
  std::string get(const std::string& key, const std::function<std::string()>& make);

 private:
  using Made = std::shared_future<std::string>;
  // What another thread is making; else from now on this one is, and `made` is what it will have.
  std::optional<Made> other(const std::string& key, const Made& made);

  std::mutex mutex_;
  std::map<std::string, Made> making_;
};

}  // namespace twinloom
