// See usable.h.
#include "tests/ops/vector/usable.h"

#include "core/base/error.h"

#define VECTOR_TABLE(name) extern "C" const twinloom::ops::testing::VectorTable vector_table_##name;
#include "tests/ops/vector/tables.def"
#undef VECTOR_TABLE

namespace twinloom::ops::testing {

std::vector<const VectorTable*> all_tables() {
  return {
#define VECTOR_TABLE(name) &vector_table_##name,
#include "tests/ops/vector/tables.def"
#undef VECTOR_TABLE
  };
}

bool is_usable(const VectorTable& table) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         (!table.needs_avx512 || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                                  __builtin_cpu_supports("avx512vl")));
}

const VectorTable& best_table() {
  return is_usable(vector_table_clang_avx512) ? vector_table_clang_avx512 : vector_table_clang_avx2;
}

VectorLoop loop_of(const VectorTable& table, Pointwise op, DType element, int lanes) {
  for (const VectorRow& row : table.functions)
    if (row.lanes == lanes && name(op) == row.name && name(element) == row.element) return row.loop;
  CHECK(false, "no vectors of ", name(op), " of ", name(element));
  return nullptr;
}

void apply_vectors(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                   std::int64_t count) {
  loop_of(best_table(), op, element, 16)(inputs.data(), output, count);
}

}  // namespace twinloom::ops::testing
