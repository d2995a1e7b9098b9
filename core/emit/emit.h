// Programs to text: one emitter, and a Dialect that answers what differs between the languages.
// The text is a function over a range of tasks, as abi.h says. It reads top to bottom like the program:
//   for (i64 i0 = begin; i0 < end; ++i0) {
//     const f32* const p1 = b0 + 4096 * i0;
//     for (i64 i2 = 0; i2 < 512; ++i2) {
//       const Vector<f32, 8> v3 = load<8>(p1 + 8 * i2);
//       store(p4 + 8 * i2, exp(v3));
// A vector loop is no loop of the text: what depends on its axis is a vector, the rest stays scalar.
// Names are a letter of the emitter and a number: b buffers, n sizes and index values, i counters, p
// pointers, v values, m masks, t totals, s symbols found at run time.
#pragma once

#include <string>
#include <string_view>

#include "core/emit/dialect.h"
#include "core/loops/loops.h"

namespace twinloom::emit {

// `comment` stands on top, line by line; its bytes are escaped. Bug where the program is none of stage
// `program`, or asks for something that the dialect does not have.
std::string emit(const loops::Program& program, const Dialect& dialect, std::string_view comment = {});

// How many tasks the kernel has: an expression of the program's sizes.
index::Expr task_count(const loops::Program& program);

}  // namespace twinloom::emit
