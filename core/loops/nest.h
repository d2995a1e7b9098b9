// A nest taken apart into the one shape that lowering makes, fusion keeps and schedules understand:
//
//   nest    := common loop* body            the turns of the common loops are independent
//            | Start+ common loop+ body columns
//   body    := item*
//   item    := Let | Index | Store | Start  once a turn: the row's own statements
//            | sibling                      a perfect nest of loops of its own
//   sibling := loop+ inner*
//   inner   := Let | Index | Store | Accumulate | Scan
//   columns := loop {Let | Store}
//
// A sibling's loops are all walked for each turn of the common loops; the totals that it accumulates
// are started in the body, so every one of its loops is reduced for them. A sibling with a Scan has
// one loop. A total may be read by items after the sibling that accumulates it.
// A nest whose body is a Call has no loops and one item.
//
// Totals that are started outside the common loops are of columns: they have a copy for each turn of the loop
// of `columns`, whose axis is that of the sibling with one loop that accumulates them, at the place of the
// turn. They are read in `columns` alone, which loads nothing that the rows store.
//
//   softmax:  for i < n                                          common
//               start m : max f32                                item
//               for k < c { accumulate m (load x[i*c + k]) place k }     sibling 0
//               start s : sum f32                                item
//               for k < c { accumulate s (exp(x - m)) place k }          sibling 1
//               for k < c { store y[i*c + k] = exp(x - m) / s }          sibling 2
//
//   sums of rows and columns:  start b : sum f32 copies (k)               columns
//                              for i < n                                  common
//                                start a : sum f32                        item
//                                for k < c { accumulate a (load x[i*c + k]) place k
//                                            accumulate b (load x[i*c + k]) place i }
//                                store y[i] = a                           item
//                              for k < c { store z[k] = b }               columns
#pragma once

#include <optional>
#include <vector>

#include "core/loops/loops.h"

namespace twinloom::loops {

struct NestLoop {
  Axis axis;
  index::Expr extent;
  friend bool operator==(const NestLoop&, const NestLoop&) = default;
};
struct Sibling {
  std::vector<NestLoop> loops;  // outermost first, at least one
  std::vector<Ref<Stmt>> inner;
};
using Item = std::variant<Ref<Stmt>, Sibling>;
struct Columns {
  std::vector<Start> totals;  // with copies along the loop's axis
  NestLoop loop;
  std::vector<Ref<Stmt>> inner;  // once a column, after all rows
};
struct Nest {
  std::vector<NestLoop> common;  // outermost first
  std::vector<Item> items;
  std::optional<Columns> columns = {};
};

// Bug when the program is not of the shape above.
Nest take_apart(const Program& program);
// Whether the total is one of columns.
bool is_of_columns(const Nest& nest, Temp total);
// The statements of the nest, put together again.
Ref<Stmt> put_together(const Nest& nest);

// What is known of the nest's symbols: sizes from Program::sizes, axes from their extents, Index symbols
// from their bounds.
index::Facts facts_of(const Program& program);

}  // namespace twinloom::loops
