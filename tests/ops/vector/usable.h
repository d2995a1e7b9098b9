// The tables of vector functions that were built, and those that this CPU can run.
#pragma once

#include <span>
#include <vector>

#include "core/ops/pointwise.h"
#include "tests/ops/vector/tables.h"

namespace twinloom::ops::testing {

std::vector<const VectorTable*> all_tables();
bool is_usable(const VectorTable& table);

// A row of the best registers of this CPU, to compute `op` over many elements. The inputs hold `count`
// elements of f32 or f64, a multiple of 16.
void apply_vectors(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                   std::int64_t count);

}  // namespace twinloom::ops::testing
