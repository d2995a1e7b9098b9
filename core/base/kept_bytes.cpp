// See kept_bytes.h.
#include "core/base/kept_bytes.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string_view>

#include "core/base/hash.h"

namespace twinloom {

namespace {

// Both ends of what is long: equal ones are compared whole, and the arrays of a model are read once less.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
  constexpr std::size_t most = std::size_t{1} << 14;
  const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::uint64_t hash = mix_hash(view.size(), stable_hash(view.substr(0, most)));
  if (view.size() > most) hash = mix_hash(hash, stable_hash(view.substr(std::max(most, view.size() - most))));
  return hash;
}

}  // namespace

struct KeptBytes::Held {
  std::span<const std::byte> bytes;
  std::uint64_t hash = 0;
  std::shared_ptr<const void> owner;
  std::function<void()> check;
  std::mutex checking;
  std::atomic<bool> checked = false;

  Held(std::span<const std::byte> held, std::uint64_t its_hash, std::shared_ptr<const void> its_owner)
      : bytes(held), hash(its_hash), owner(std::move(its_owner)) {}
};

KeptBytes::KeptBytes(std::vector<std::byte> bytes) {
  if (bytes.empty()) return;
  const auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  *this = KeptBytes(*owner, owner);
}

KeptBytes::KeptBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
    : held_(std::make_shared<Held>(bytes, hash_of(bytes), std::move(owner))) {}

KeptBytes::KeptBytes(std::span<const std::byte> bytes, std::uint64_t hash, std::shared_ptr<const void> owner,
                     std::function<void()> check)
    : held_(std::make_shared<Held>(bytes, hash, std::move(owner))) {
  held_->check = std::move(check);
}

std::size_t KeptBytes::size() const { return held_ == nullptr ? 0 : held_->bytes.size(); }
std::uint64_t KeptBytes::hash() const { return held_ == nullptr ? 0 : held_->hash; }

std::span<const std::byte> KeptBytes::read() const {
  if (held_ == nullptr) return {};
  if (held_->check && !held_->checked) {
    const std::lock_guard lock(held_->checking);
    if (!held_->checked) held_->check();
    held_->checked = true;
  }
  return held_->bytes;
}

bool operator==(const KeptBytes& a, const KeptBytes& b) {
  if (a.held_ == b.held_) return true;
  return a.size() == b.size() && a.hash() == b.hash() && std::ranges::equal(a.read(), b.read());
}

}  // namespace twinloom
