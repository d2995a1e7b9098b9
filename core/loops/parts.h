// A nest of several parts, which hand arrays on in each iteration of their common loops:
//
//   nest  := common loop+ array+ part part+
//   array := Scratch around the parts, of what one iteration of the common loops hands on
//   part  := item*      within the common loops a nest of the shape of nest.h
//
// The iterations of the common loops are independent. A part reads no temp of another: what it needs of one
// is in an array, whose elements earlier parts of the iteration have stored.
//
//   scores:  for i < n                                                        common
//              scratch s[m] in scratch                                        array
//                for j < m { start t; for k { t += a[..] * b[..] }; s[j] = t }   part
//                start u : max f32                                            part
//                for j1 < m { u += s[j1] }
//                y[i] = u
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/loops/nest.h"

namespace twinloom::loops {

struct Parts {
  std::vector<NestLoop> common;  // outermost first
  std::vector<Scratch> arrays;   // outermost first; the bodies are those of the program
  std::vector<std::vector<Ref<Stmt>>> parts;
};

// Whether the nest has arrays, and so is of this shape and not of that of nest.h.
bool has_parts(const Program& nest);
// Bug where the nest is of neither shape.
Parts parts_of(const Program& nest);
Ref<Stmt> put_together(const Parts& parts);
// The part within the common loops, a nest of the shape of nest.h but that nothing declares its arrays.
Program nest_of(const Program& nest, const Parts& parts, std::size_t part);

// The statement with loads of `from` and stores to it that are those of `to`, at place(offset).
Ref<Stmt> move_accesses(const Ref<Stmt>& stmt, Buffer from, Buffer to,
                        const std::function<index::Expr(const index::Expr&)>& place);

// The statements of a block in as many groups as can be: none uses a temp or an Index symbol of another.
std::vector<std::vector<Ref<Stmt>>> independent_groups(const std::vector<Ref<Stmt>>& stmts);

}  // namespace twinloom::loops
