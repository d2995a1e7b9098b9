// Inside of the component: memory of kernels besides what a run hands them.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "backends/cpu/onednn.h"

namespace twinloom::cpu {

// Of one call, aligned as vectors want it. Error where there is none.
std::shared_ptr<std::byte> call_memory(std::size_t bytes);

// A constant that every run reads, and how it lies in memory as it is given and in the copy; null: as they
// are.
struct Packed {
  std::shared_ptr<const void> content;  // as long as it is there, the memory stays as it is
  const void* address;
  std::size_t bytes;  // of the copy
  onednn::Owned given = nullptr, copied = nullptr;
};

// The copy that `fill` writes, one for all kernels that want the same. Those of many constants lie side by
// side in huge pages: ResNet-50's 102 MB in pages of 4 KiB took a run 3.5 % longer (an EPYC, a virtual
// machine, 2026-11-28). Pages are given back when nobody has memory in them. Thread-safe. Error where there
// is none.
std::shared_ptr<std::byte> packed_memory(const Packed& constant, const std::function<void(std::byte*)>& fill);

// All of packed_memory() in this process, for reports and tests.
std::size_t packed_bytes();

}  // namespace twinloom::cpu
