// See device_dialect.h.
#include "core/emit/device_dialect.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/emit/spelling.h"

namespace twinloom::emit {

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

std::string DeviceDialect::before() const { return "namespace twinloom::device {"; }
std::string DeviceDialect::after() const { return "}  // namespace twinloom::device"; }

std::string DeviceDialect::argument(const std::string& type, DType, std::size_t buffer) const {
  return cat("static_cast<", type, "*>(arguments->buffers[", buffer, "])");
}
std::string DeviceDialect::size(std::size_t number, const loops::SizeInfo&) const {
  return cat("arguments->sizes[", number, "]");
}
std::string DeviceDialect::failure() const { return "arguments->failure"; }

std::string DeviceDialect::type(DType dtype, int lanes) const {
  if (lanes == 1) return std::string(register_type(dtype));
  return cat("Vector<", register_type(dtype), ", ", lanes, ">");
}

std::string DeviceDialect::memory_type(DType dtype) const {
  return dtype == DType::b8 ? "u8" : std::string(register_type(dtype));
}

std::string DeviceDialect::literal(const ops::Number& number, DType dtype) const {
  if (dtype == DType::b8) return number.integer() != 0 ? "true" : "false";
  if (dtype == DType::f32 || dtype == DType::f64) return real_literal(number.real(), dtype);
  if (is_format(dtype)) return cat(register_type(dtype), "(", bits_of_number(number, dtype), ")");
  const std::int64_t value = number.integer();
  if (dtype == DType::u64) return cat("u64(", static_cast<std::uint64_t>(value), "u)");
  if (value == INT64_MIN) return "i64(-9223372036854775807 - 1)";
  return cat(ops::name(dtype), "(", value, ")");
}

std::string DeviceDialect::converted(DType from, DType to, const std::string& text) const {
  if (from == to) return text;
  const std::string wide = is_format(from) ? cat("widen<", ops::name(from), ">(", text, ")") : text;
  if (is_format(to)) return cat("narrow<", ops::name(to), ">(", wide, ")");
  if (is_format(from) && to == DType::f32) return wide;
  return cat("convert<", ops::name(to), ">(", wide, ")");
}

std::string DeviceDialect::loaded(DType dtype, const std::string& text) const {
  return dtype == DType::b8 ? cat("truth(", text, ")") : text;
}

std::string DeviceDialect::stored(DType dtype, const std::string& text) const {
  return dtype == DType::b8 ? cat("truncated<u8>(", text, ")") : text;
}

std::string DeviceDialect::loop(const std::string& counter, const std::string& bound) const {
  return counted(counter, bound);
}

}  // namespace twinloom::emit
