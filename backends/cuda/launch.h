// How a program is launched, and what kernels may take for granted of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/loops/interpret.h"
#include "core/loops/loops.h"

namespace twinloom::cuda {

// What one load or store moves at most, at an address that is a multiple of it.
constexpr int PACKED_BYTES = 16;

// Sizes below it are spelled so that NVRTC sees it.
constexpr std::int64_t LARGE_SIZE = std::int64_t{1} << 30;

// Whether a run-time integer is a size: a seed or a stride may be negative.
bool is_size(const loops::SizeInfo& info);

// How many arguments of a kernel are buffers.
std::size_t buffer_count(const loops::Program& program);

// Threads of a block, and blocks on a GPU with so many multiprocessors. A routine
// has the shape that device/sort.h or device/order.h asks for, whatever the number of blocks; all else what
// its loops say.
std::int64_t block_threads(const loops::Program& program);
std::int64_t shared_bytes(const loops::Program& program);    // that a launch asks for, of a block
std::int64_t cluster_blocks(const loops::Program& program);  // of one task
index::Expr block_count(const loops::Program& program, int multiprocessors);

// What a launch hands to a kernel: its parameters, a word each.
std::vector<void*> parameter_words(std::span<const loops::Memory> buffers,
                                   std::span<const std::int64_t> sizes, void* failure);

}  // namespace twinloom::cuda
