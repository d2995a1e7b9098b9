// Bytes that never change, with what keeps them in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace twinloom {

// Copies share the bytes. Thread-safe.
class KeptBytes {
 public:
  KeptBytes() = default;
  KeptBytes(std::vector<std::byte> bytes);  // NOLINT(google-explicit-constructor): a list of bytes is one
  // Bytes that `owner` keeps in memory.
  KeptBytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  // Bytes of a file, say, that `owner` keeps in memory; `hash` is what hash() was for them. `check` is called
  // when they are first read, and throws where they are not what was written; then each reading calls it.
  KeptBytes(std::span<const std::byte> bytes, std::uint64_t hash, std::shared_ptr<const void> owner,
            std::function<void()> check);

  std::size_t size() const;
  // Of their number and of both ends; known without reading.
  std::uint64_t hash() const;
  // Valid as long as a copy of this is.
  std::span<const std::byte> read() const;

  friend bool operator==(const KeptBytes& a, const KeptBytes& b);

 private:
  struct Held;
  std::shared_ptr<Held> held_;  // null: no bytes
};

}  // namespace twinloom
