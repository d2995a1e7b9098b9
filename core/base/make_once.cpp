// See make_once.h.
#include "core/base/make_once.h"

namespace twinloom {

std::optional<MakeOnce::Made> MakeOnce::other(const std::string& key, const Made& made) {
  const std::lock_guard lock(mutex_);
  const auto [found, added] = making_.try_emplace(key, made);
  return added ? std::nullopt : std::optional(found->second);
}

std::string MakeOnce::get(const std::string& key, const std::function<std::string()>& make) {
  std::promise<std::string> promise;
  const Made made = promise.get_future().share();
  if (const auto known = other(key, made)) return known->get();
  try {
    promise.set_value(make());
  } catch (...) {
    promise.set_exception(std::current_exception());
  }
  {
    const std::lock_guard lock(mutex_);
    making_.erase(key);
  }
  return made.get();
}

}  // namespace twinloom
