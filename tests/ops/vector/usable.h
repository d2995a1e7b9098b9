// The tables of vector functions that were built, and those that this CPU can run.
#pragma once

#include <span>
#include <vector>

#include "core/ops/pointwise.h"
#include "tests/ops/vector/tables.h"

namespace twinloom::ops::testing {

std::vector<const VectorTable*> all_tables();
bool is_usable(const VectorTable& table);

// The widest registers of this CPU, by the compiler of the JIT.
const VectorTable& best_table();
VectorLoop loop_of(const VectorTable& table, Pointwise op, DType element, int lanes);

// A row of the best registers of this CPU, to compute `op` over many elements. The inputs hold `count`
// elements of f32 or f64, a multiple of 64.
void apply_vectors(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                   std::int64_t count);

}  // namespace twinloom::ops::testing
