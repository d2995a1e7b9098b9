// See once.h.
#include "core/lower/once.h"

#include <algorithm>
#include <limits>

namespace twinloom::lower {

namespace {

// As many as the arrays that a value follows from and half as many again: weights that are turned or
// transposed, in phases or padded a little, but not small integers that are widened, which somebody keeps
// small on purpose. A table that follows from nothing may have few.
constexpr double MOST_OF_ARRAYS = 1.5;
constexpr double FEW_BYTES = 64 << 10;

double bytes_of(const Value& value) {
  const auto count = index::constant_of(value.count);
  return count ? static_cast<double>(*count) * ops::size_of(value.dtype)
               : std::numeric_limits<double>::infinity();
}

class Choosing {
 public:
  Choosing(std::span<const Value> values, std::span<const Work> works)
      : values_(values), works_(works), once_(works.size()), arrays_(values.size(), 0) {
    for (std::size_t v = 0; v < arrays_.size(); ++v)
      if (values[v].storage == Storage::constant) arrays_[v] = bytes_of(values[v]);
    for (std::size_t w = 0; w < once_.size(); ++w) once_[w] = knows_nothing_of_the_run(works[w]);
  }

  // Until nothing more follows from work that is none.
  std::vector<bool> chosen() {
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<bool> is_run = written_in_runs();
      for (std::size_t s = 0; s < once_.size(); ++s) {
        if (!once_[s] || !reads_or_writes(works_[s], is_run)) continue;
        once_[s] = false, changed = true;
      }
    }
    return once_;
  }

 private:
  bool knows_nothing_of_the_run(const Work& work) {
    double arrays = 0;
    for (const ValueId id : work.arguments) {
      const Storage storage = value_of(id).storage;
      if (storage != Storage::constant && storage != Storage::temporary) return false;
      arrays += arrays_[id.index];
    }
    for (const ValueId id : work.arguments) {
      if (value_of(id).storage == Storage::constant) continue;
      arrays_[id.index] = std::max(arrays_[id.index], arrays);
      if (bytes_of(value_of(id)) > MOST_OF_ARRAYS * arrays + FEW_BYTES) return false;
    }
    return work.program->sizes.empty();
  }

  std::vector<bool> written_in_runs() const {
    std::vector<bool> written(values_.size(), false);
    for (std::size_t s = 0; s < once_.size(); ++s) {
      if (once_[s]) continue;
      for (const ValueId id : written_by(works_[s])) written[id.index] = true;
    }
    return written;
  }

  static bool reads_or_writes(const Work& work, const std::vector<bool>& values) {
    return std::ranges::any_of(work.arguments, [&](ValueId id) { return values[id.index]; });
  }

  const Value& value_of(ValueId id) const { return values_[id.index]; }

  std::span<const Value> values_;
  std::span<const Work> works_;
  std::vector<bool> once_;
  std::vector<double> arrays_;  // by value: bytes of those that it follows from
};

}  // namespace

std::vector<ValueId> written_by(const Work& work) {
  std::vector<ValueId> written;
  std::size_t at = 0;
  for (const loops::BufferInfo& buffer : work.program->buffers) {
    if (buffer.local) continue;
    if (buffer.written) written.push_back(work.arguments[at]);
    ++at;
  }
  return written;
}

std::vector<bool> follows_from_arrays(std::span<const Value> values, std::span<const Work> works) {
  return Choosing(values, works).chosen();
}

std::vector<bool> follows_from_arrays(const Lowered& lowered) {
  std::vector<Work> works;
  for (const Unit& unit : lowered.units) works.push_back({&unit.nest, unit.arguments});
  return follows_from_arrays(lowered.values, works);
}

}  // namespace twinloom::lower
