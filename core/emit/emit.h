// Programs to text: one emitter, and a Dialect that answers what differs between the languages.
// The text is a function over a range of tasks, as abi.h says. It reads top to bottom like the program:
//   for (i64 k0 = begin; k0 < end; ++k0) {
//     const auto p1 = a0 + 4096 * k0;
//     for (i64 k2 = 0; k2 < 512; ++k2) {
//       const auto p3 = p1 + 8 * k2;
//       const Vector<f32, 8> v4 = load<8>(p3);
// A vector loop is no loop of the text: what depends on its axis is a vector, the rest stays scalar.
// Names are a letter of the emitter and a number: a arrays, n sizes and index values, k counters, p
// pointers, v values, m masks, t totals, s symbols found at run time. No type or function of the device
// headers is such a name (b8, i64, u8, f32 and i0 are).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/emit/dialect.h"
#include "core/loops/loops.h"
#include "core/machine/machine.h"

namespace twinloom::emit {

// `comment` stands on top, line by line; its bytes are escaped. Bug where the program is none of stage
// `program`, or asks for something that the dialect does not have.
std::string emit(const loops::Program& program, const Dialect& dialect, std::string_view comment = {});
// The text with that comment on top.
std::string commented(std::string_view comment, std::string_view text);

// How many tasks the kernel has: an expression of the program's sizes.
index::Expr task_count(const loops::Program& program);

// How many threads each of its blocks needs; 1 without thread loops.
std::int64_t thread_count(const loops::Program& program);
// The blocks that these threads are.
machine::BlockShape block_shape(const loops::Program& program);

// Where the arrays that a block's threads share lie, in bytes from the start of the block's scratch; what a
// Combine needs for itself is not among them.
struct ScratchLayout {
  std::map<loops::Buffer, std::int64_t> offsets;
  std::int64_t bytes = 0;
};
ScratchLayout scratch_layout(const loops::Program& program);

}  // namespace twinloom::emit
