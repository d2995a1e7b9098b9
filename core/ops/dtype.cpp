// See dtype.h; the rows are in dtype.def.
#include "core/ops/dtype.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/ops/cost.h"

namespace twinloom::ops {

namespace {

struct Row {
  DType dtype;
  std::string_view name;
  int bits;
  TypeKind kind;
};

constexpr std::array rows = {
#define DTYPE(name, bits, kind, words) Row{DType::name, #name, bits, TypeKind::kind},
#include "core/ops/dtype.def"
#undef DTYPE
};

constexpr auto dtypes = [] {
  std::array<DType, rows.size()> all{};
  std::ranges::transform(rows, all.begin(), &Row::dtype);
  return all;
}();

const Row& row(DType dtype) { return rows.at(static_cast<std::size_t>(dtype)); }

}  // namespace

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> dtype_named(std::string_view name) {
  if (name == "bool") return DType::b8;
  const auto* found = std::ranges::find(rows, name, &Row::name);
  if (found == rows.end()) return std::nullopt;
  return found->dtype;
}

std::span<const DType> all_dtypes() { return dtypes; }
TypeKind kind(DType dtype) { return row(dtype).kind; }
int bits_of(DType dtype) { return row(dtype).bits; }

int size_of(DType dtype) {
  CHECK(row(dtype).bits % 8 == 0, "an element of ", name(dtype), " has no size in bytes");
  return row(dtype).bits / 8;
}

bool is_floating(DType dtype) { return kind(dtype) == TypeKind::floating; }
bool holds_real(DType dtype) { return is_floating(dtype) || kind(dtype) == TypeKind::narrow_float; }

bool is_integer(DType dtype) {
  return kind(dtype) == TypeKind::signed_int || kind(dtype) == TypeKind::unsigned_int;
}

bool is_16_bit_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

int conversion_cost(DType from, DType to) {
  constexpr int WIDENED = 2, ROUNDED = 7, SATURATED = 8, OF_BYTES = 20;
  if (from == to) return 0;
  const bool is_real = holds_real(from);
  if (kind(to) == TypeKind::narrow_float || kind(from) == TypeKind::narrow_float) return OF_BYTES;
  if (to == DType::bf16) return ROUNDED;
  if (is_16_bit_float(from)) return is_integer(to) ? WIDENED + SATURATED : WIDENED;
  if (is_real && is_integer(to)) return SATURATED;
  return size_of(from) < 4 || size_of(to) < 4 ? WIDENED : 1;
}

DType compute_type(DType dtype) { return is_16_bit_float(dtype) ? DType::f32 : dtype; }

}  // namespace twinloom::ops
