// See dialect.h.
#include "backends/cpu/dialect.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/ops/device_text.h"

namespace twinloom::cpu {

using ops::DType;

namespace {

// Formats of storage: their bits are what a register holds.
bool is_format(DType dtype) {
  return ops::is_16_bit_float(dtype) || ops::kind(dtype) == ops::TypeKind::narrow_float;
}

// What a register holds of an element.
std::string_view register_type(DType dtype) {
  CHECK(ops::kind(dtype) != ops::TypeKind::packed_int, ops::name(dtype), " in a kernel");
  if (!is_format(dtype)) return ops::name(dtype);
  return ops::bits_of(dtype) == 16 ? "u16" : "u8";
}

std::uint64_t bits_of_number(const ops::Number& number, DType dtype) {
  std::uint64_t bits = 0;
  ops::store_number(dtype, number, &bits);
  return bits;
}

std::string real_literal(double value, DType dtype) {
  const bool single = dtype == DType::f32;
  if (std::isnan(value)) return single ? "not_a_number<f32>()" : "not_a_number<f64>()";
  if (std::isinf(value)) return cat(value < 0 ? "-" : "", single ? "infinity<f32>()" : "infinity<f64>()");
  return fmt::format("{:a}{}", value, single ? "f" : "");
}

}  // namespace

std::string CpuDialect::before() const { return "namespace twinloom::device {"; }
std::string CpuDialect::head() const {
  return "extern \"C\" void kernel(const Arguments* arguments, i64 begin, i64 end)";
}
std::string CpuDialect::after() const { return "}  // namespace twinloom::device"; }

std::string CpuDialect::type(DType dtype, int lanes) const {
  if (lanes == 1) return std::string(register_type(dtype));
  return cat("Vector<", register_type(dtype), ", ", lanes, ">");
}

std::string CpuDialect::memory_type(DType dtype) const {
  return dtype == DType::b8 ? "u8" : std::string(register_type(dtype));
}

std::string CpuDialect::literal(const ops::Number& number, DType dtype) const {
  if (dtype == DType::b8) return number.integer() != 0 ? "true" : "false";
  if (dtype == DType::f32 || dtype == DType::f64) return real_literal(number.real(), dtype);
  if (is_format(dtype)) return cat(register_type(dtype), "(", bits_of_number(number, dtype), ")");
  const std::int64_t value = number.integer();
  if (dtype == DType::u64) return cat("u64(", static_cast<std::uint64_t>(value), "u)");
  if (value == INT64_MIN) return "i64(-9223372036854775807 - 1)";
  return cat(ops::name(dtype), "(", value, ")");
}

std::string CpuDialect::converted(DType from, DType to, const std::string& text) const {
  if (from == to) return text;
  const std::string wide = is_format(from) ? cat("widen<", ops::name(from), ">(", text, ")") : text;
  if (is_format(to)) return cat("narrow<", ops::name(to), ">(", wide, ")");
  if (is_format(from) && to == DType::f32) return wide;
  return cat("convert<", ops::name(to), ">(", wide, ")");
}

std::string CpuDialect::loaded(DType dtype, const std::string& text) const {
  return dtype == DType::b8 ? cat("truth(", text, ")") : text;
}

std::string CpuDialect::stored(DType dtype, const std::string& text) const {
  return dtype == DType::b8 ? cat("truncated<u8>(", text, ")") : text;
}

std::string CpuDialect::array(const std::string& type, const std::string& name, const std::string& count,
                              loops::Place) const {
  return cat("alignas(64) alignas(", type, ") ", type, " ", name, "[", count, "];");
}

// As many rows as half of AVX-512's registers hold, each at most one of them.
bool CpuDialect::transposes(DType dtype, int count) const {
  constexpr int LEAST = 4, MOST = 16, REGISTER_BYTES = 64;
  return count >= LEAST && count <= MOST && count * ops::size_of(dtype) <= REGISTER_BYTES;
}

std::vector<jit::VirtualFile> all_headers() {
  std::vector<jit::VirtualFile> headers;
  for (const ops::DeviceHeader& header : ops::device_headers())
    headers.push_back({std::string(header.path), header.text});
  for (const jit::VirtualFile& header : cpu_headers()) headers.push_back(header);
  for (const jit::VirtualFile& header : abi_headers()) headers.push_back(header);
  return headers;
}

std::string prelude() { return "#include \"cpu/routines.h\"\n#include \"cpu/transpose.h\"\n"; }

}  // namespace twinloom::cpu
