// See library_packing.h.
#include "backends/cpu/library_packing.h"

#include <algorithm>

#include "backends/cpu/library_execution.h"
#include "core/base/integers.h"
#include "core/base/mapped_file.h"

namespace twinloom::cpu {

namespace {

using onednn::functions, onednn::Handle, onednn::Owned;

// The elements of one part, along the dimension whose neighbours lie furthest apart, so that it is one range
// of addresses; all blocks that the library lays elements in divide it. Integers of 8 bits are one part, as
// sums over a whole one may follow them.
struct Parts {
  std::vector<std::int64_t> dims;
  std::size_t along = 0;
  std::int64_t step = 0, stride_bytes = 0;
};

Parts parts_of(Handle given) {
  constexpr std::int64_t PART_BYTES = 16 << 20, BLOCK = 64;
  int count = 0, type = 0;
  const std::int64_t *dims = nullptr, *strides = nullptr;
  onednn::check(functions().memory_desc_query(given, onednn::QUERY_DIMENSION_COUNT, &count), "a query");
  onednn::check(functions().memory_desc_query(given, onednn::QUERY_DIMENSIONS, &dims), "a query");
  onednn::check(functions().memory_desc_query(given, onednn::QUERY_STRIDES, &strides), "a query");
  onednn::check(functions().memory_desc_query(given, onednn::QUERY_TYPE, &type), "a query");
  Parts parts{{dims, dims + count}};
  parts.along = static_cast<std::size_t>(std::max_element(strides, strides + count) - strides);
  const std::int64_t extent = std::max<std::int64_t>(parts.dims[parts.along], 1);
  const auto bytes = static_cast<std::int64_t>(functions().memory_desc_get_size(given));
  parts.stride_bytes = std::max<std::int64_t>(bytes / extent, 1);
  const bool is_narrow = type == onednn::S8 || type == onednn::U8;
  parts.step =
      is_narrow ? extent : std::min(extent, ceil_div(PART_BYTES, parts.stride_bytes * BLOCK) * BLOCK);
  return parts;
}

// Null where the layout does not have these elements as one memory.
Owned part_of(Handle whole, const Parts& parts, std::int64_t first) {
  std::vector<std::int64_t> dims = parts.dims, offsets(dims.size());
  offsets[parts.along] = first;
  dims[parts.along] = std::min(parts.step, parts.dims[parts.along] - first);
  Handle made = nullptr;
  if (functions().memory_desc_create_submemory(&made, whole, dims.data(), offsets.data()) != 0)
    return nullptr;
  return {made, functions().memory_desc_destroy};
}

void reorder(Handle given, void* address, Handle copied, void* copy) {
  run_reorder(onednn::reorder_of(given, copied), given, address, copied, copy);
}

}  // namespace

void run_reorder(const onednn::Primitive& reorder, Handle from_description, void* from, Handle to_description,
                 void* to) {
  Execution execution(reorder);
  execution.add(onednn::SOURCE, from_description);
  execution.add(onednn::DESTINATION, to_description);
  execution.set(0, from);
  execution.set(1, to);
  execution.run();
}

void pack(Handle given, void* address, Handle copied, void* copy) {
  const Parts parts = parts_of(given);
  const std::int64_t extent = parts.dims[parts.along];
  auto* const bytes = static_cast<const std::byte*>(address);
  for (std::int64_t first = 0; first < extent; first += parts.step) {
    const bool is_whole = parts.step >= extent;
    const Owned from = is_whole ? nullptr : part_of(given, parts, first),
                to = is_whole ? nullptr : part_of(copied, parts, first);
    if (from == nullptr || to == nullptr) {
      reorder(given, address, copied, copy);
      first = extent;
    } else {
      reorder(from.get(), address, to.get(), copy);
    }
    const std::int64_t end = std::min(first + parts.step, extent);
    unload({bytes, static_cast<std::size_t>(end * parts.stride_bytes)});
  }
}

}  // namespace twinloom::cpu
