// What a variant computes from arrays of its graph alone: made once, before the first run, and kept.
//
//   t = flip(constant w); y = conv(x, t)     ->     t is memory beside w, each run computes y alone
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/runtime/space.h"
#include "core/runtime/variant.h"

namespace twinloom::runtime {

// By step: as core/lower/once.h says.
std::vector<bool> steps_made_once(const Variant& variant);
// By group of the variant, for reports: whether all of its steps are so.
std::vector<bool> groups_made_once(const Variant& variant);

// What those steps write. Immutable.
struct Once {
  std::vector<bool> steps;  // as steps_made_once; all false where one of them failed, as each run then does
  std::vector<bool> kept;   // by value: it is written by them and read by others
  std::vector<std::shared_ptr<std::byte>>
      memory;  // by value, of what is kept; null where nothing is made yet
  std::vector<graph::Content> arrays;              // that it follows from
};

// Before anything is made.
Once planned_once(const Variant& variant);

// One for all variants that compute the same from the same arrays, as long as one of them has it.
// Thread-safe.
class OnceMade {
 public:
  explicit OnceMade(const Space* space) : space_(space) {}
  // `values`: where the constants lie, by value. Error where there is no memory or a GPU fails.
  std::shared_ptr<const Once> get(const std::shared_ptr<const Variant>& variant,
                                  std::span<const Memory> values);

 private:
  const Space* space_;
  std::mutex mutex_;
  using Made = std::weak_ptr<const Once>;
  std::unordered_map<std::string, Made> made_;  // by what is computed from which arrays
  // The same for the next sizes of a variant, without asking what it computes.
  std::map<std::weak_ptr<const Variant>, Made, std::owner_less<>> known_;
};

}  // namespace twinloom::runtime
