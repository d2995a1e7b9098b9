// What the generators of scans share: one element after the other (scan.cpp), rows side by side in a vector
// (scan_rows.cpp), rows by the threads of a block (scan_threads.cpp), neighbours by each thread
// (scan_lanes.cpp). For the inside of this component.
#pragma once

#include <initializer_list>

#include "core/schedule/build.h"

namespace twinloom::schedule {

// One scan, and what it has on the way; each generator has some of it.
struct Running {
  loops::Scan scan;
  loops::Start start;
  Temp row, before, all;         // p within a row, o before it, and the whole chunk
  Temp carry, chunk;             // what comes before all chunks that are side by side, and before one of them
  Buffers values, rows, totals;  // arrays of p, of o and of whole chunks: one a part of the tuple
};

// The scans of a sibling while its loops are built.
struct RunningScans {
  struct Array {
    Buffers Running::*buffers;
    std::string_view name;
    std::int64_t count;
  };
  const SiblingSource& source;
  const Surroundings& around;
  Names& names;
  std::vector<Running> all;

  // All scans of the sibling, with these temps and arrays.
  void add_scans(std::initializer_list<Temp Running::*> temps, const std::vector<Array>& arrays);

  bool in_parts() const { return source.parts != nullptr; }
  bool only_totals() const { return in_parts() && source.parts->only_totals(); }
  // The first element of the chunk that a walk is in, of the whole axis.
  index::Expr first_of_chunk(const Scope& scope, const State& state) const;

  Ref<Stmt> start_all(Temp Running::*accumulator, const std::vector<loops::Axis>& copies,
                      Ref<Stmt> rest) const;
  // What comes before the chunk, from memory.
  void add_carries(Temp Running::*carry, const index::Expr& first, std::vector<Ref<Stmt>>& stmts) const;
  void add_prefixes(const index::Symbol& across, std::vector<Ref<Stmt>>& stmts) const;
  // The sibling's statements at these places, its stores only where they are wanted, and in place of each
  // scan what scanned(scan, statements) adds.
  using Scanned = std::function<void(const Running& running, std::vector<Ref<Stmt>>& stmts)>;
  std::vector<Ref<Stmt>> inside(const Surroundings& here, bool with_stores, const Scanned& scanned) const;
  // Adds the element to its row; p at this place of the values' arrays, unless only totals are wanted.
  void add_to_row(const Running& running, std::vector<Ref<loops::Value>> values, const index::Condition& mask,
                  const index::Expr& at, std::vector<Ref<Stmt>>& stmts) const;
  // What is scanned, at this place of the values' arrays; and p in its stead.
  Ref<Stmt> store_values(const Surroundings& here, const index::Expr& at) const;
  Ref<Stmt> add_values_to_row(const index::Condition& mask, const index::Expr& at) const;
  // result = carry with (o with p), at these places of their arrays.
  void add_result(const Running& running, Temp Running::*carry, const index::Expr& row,
                  const index::Expr& value, const Surroundings& here, std::vector<Ref<Stmt>>& stmts) const;
  // result = carry with in_chunk; the first element of an exclusive scan is given the value over nothing.
  void add_result(const Running& running, Temp Running::*carry, Temp in_chunk, const Surroundings& here,
                  std::vector<Ref<Stmt>>& stmts) const;
  Ref<Stmt> merge_arrays(Temp into, const Buffers& arrays, const index::Expr& at,
                         const index::Condition& mask = {}) const;
  Ref<Stmt> in_arrays(loops::Place place, Ref<Stmt> stmt) const;
};

Ref<Stmt> build_row_scan(const SiblingSource& source, const Surroundings& around, Names& names);
Ref<Stmt> build_thread_scan(const SiblingSource& source, const Surroundings& around, Names& names);
Ref<Stmt> build_lane_scan(const SiblingSource& source, const Surroundings& around, Names& names);

}  // namespace twinloom::schedule
