// See tensors.h.
#include "frontends/onnx/tensors.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <span>

#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "frontends/onnx/read.h"

namespace twinloom::onnx {

namespace {

using format::TensorProto;
using ops::DType;

// How many bytes the sizes and the type ask for in the graph. More than 2^40 is taken for a mistake.
std::int64_t bytes_of(const std::vector<std::int64_t>& sizes, DType dtype, const std::string& what) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  std::int64_t bytes = ops::size_of(dtype);
  bool is_empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw Error(cat(what, ": a dimension is ", size, "; it must not be negative"));
    if (size == 0) is_empty = true;
    if (size != 0 && bytes > most / size)
      throw Error(cat(what, ": dimensions ", join(sizes, " x ", [](std::int64_t s) { return cat(s); }),
                      " of ", ops::name(dtype), " are more than ", most, " bytes"));
    bytes *= std::max<std::int64_t>(size, 1);
  }
  return is_empty ? 0 : bytes;
}

// Smaller ones are copied, which gives back what pages they lie in.
constexpr std::int64_t LEAST_MAPPED_BYTES = 1 << 16;

std::vector<std::byte> copied(std::string_view bytes, std::int64_t expected, const std::string& what) {
  if (std::cmp_not_equal(bytes.size(), expected))
    throw Error(cat(what, ": holds ", bytes.size(), " bytes, its dimensions and type need ", expected));
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  std::vector<std::byte> elements(first, first + bytes.size());
  unload(std::as_bytes(std::span(bytes)));  // of a model that is mapped: its elements are not needed twice
  return elements;
}

// Those of an owner stay where they are.
KeptBytes raw_bytes(std::string_view bytes, DType dtype, std::int64_t expected,
                    const std::shared_ptr<const void>& owner, const std::string& what) {
  const auto size = static_cast<std::uintptr_t>(ops::size_of(dtype));
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % size == 0;
  if (owner == nullptr || !is_aligned || expected < LEAST_MAPPED_BYTES ||
      std::cmp_not_equal(bytes.size(), expected))
    return copied(bytes, expected, what);
  return {std::as_bytes(std::span(bytes)), owner};
}

// The low bytes of each number: integers wrap to the type, 16-bit floats are held as their bits.
template <class Number>
std::vector<std::byte> narrowed(const std::vector<Number>& field, std::int64_t expected, int size,
                                const std::string& what) {
  if (std::cmp_not_equal(field.size(), expected / size))
    throw Error(cat(what, ": holds ", field.size(), " numbers, its dimensions need ", expected / size));
  static_assert(std::endian::native == std::endian::little);
  std::vector<std::byte> bytes(static_cast<std::size_t>(expected));
  std::byte* end = bytes.data();
  for (const Number& number : field) {
    std::memcpy(end, &number, static_cast<std::size_t>(size));
    end += size;
  }
  return bytes;
}

std::vector<std::byte> typed_bytes(const TensorProto& tensor, DType dtype, std::int64_t bytes,
                                   const std::string& what) {
  const int size = ops::size_of(dtype);
  switch (dtype) {
    case DType::f32:
      return narrowed(tensor.float_data, bytes, size, what);
    case DType::f64:
      return narrowed(tensor.double_data, bytes, size, what);
    case DType::i64:
      return narrowed(tensor.int64_data, bytes, size, what);
    case DType::u32:
    case DType::u64:
      return narrowed(tensor.uint64_data, bytes, size, what);
    case DType::b8:
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::u8:
    case DType::u16:
    case DType::f16:
    case DType::bf16:
    case DType::f8e4m3:
    case DType::f8e5m2:
      return narrowed(tensor.int32_data, bytes, size, what);
    case DType::i4:
      break;
  }
  throw Unsupported(cat(what, ": elements of ", ops::name(dtype)));
}

std::int64_t number_of(std::string_view text, std::string_view key, const std::string& what) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || value < 0)
    throw Error(
        cat(what, ": ", key, " of external data must be a number of bytes, it is '", escaped(text), "'"));
  return value;
}

struct External {
  std::string location;
  std::int64_t offset = 0;
  std::optional<std::int64_t> length;
};

External external_of(const TensorProto& tensor, const std::string& what) {
  External external;
  for (const auto& entry : tensor.external_data) {
    if (entry.key == "location") external.location = entry.value;
    if (entry.key == "offset") external.offset = number_of(entry.value, "offset", what);
    if (entry.key == "length") external.length = number_of(entry.value, "length", what);
  }
  if (external.location.empty()) throw Error(cat(what, ": external data has no location"));
  return external;
}

// The file of external data, of which neither the name nor a link leads out of the model's folder.
std::filesystem::path confined(const External& external, const std::filesystem::path& folder,
                               const std::string& what) {
  const std::string given = cat(what, ": external data '", escaped(external.location), "' ");
  if (folder.empty()) throw Error(cat(given, "cannot be read: the model is in no folder"));
  const std::filesystem::path location(external.location);
  bool is_inside = location.is_relative();
  for (const auto& part : location) is_inside = is_inside && part != "..";
  std::error_code failed;
  const auto root = std::filesystem::canonical(folder, failed);
  const auto file = failed ? location : std::filesystem::weakly_canonical(root / location, failed);
  if (is_inside && !failed) is_inside = file.native().starts_with(root.native() + (root == "/" ? "" : "/"));
  if (!is_inside || failed) throw Error(cat(given, "must be a file inside of the model's folder"));
  if (!std::filesystem::is_regular_file(file, failed)) throw Error(cat(given, "is no file that is there"));
  return file;
}

// Large ones stay in the file, where elements lie as kernels want them.
KeptBytes external_bytes(const TensorProto& tensor, const std::filesystem::path& folder,
                         std::int64_t expected, const std::string& what) {
  const External external = external_of(tensor, what);
  const std::filesystem::path file = confined(external, folder, what);
  const std::string given = cat(what, ": external data '", escaped(external.location), "' ");
  std::error_code failed;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file, failed));
  if (failed || external.offset > size || expected > size - external.offset)
    throw Error(cat(given, "has ", failed ? 0 : size, " bytes, ", expected, " are needed from ",
                    external.offset, " on"));
  if (external.length && *external.length != expected)
    throw Error(cat(given, "has length ", *external.length, ", the dimensions and the type need ", expected));
  constexpr std::int64_t ALIGNMENT = 16;
  if (expected >= LEAST_MAPPED_BYTES && external.offset % ALIGNMENT == 0) {
    const auto mapped = std::make_shared<const MappedFile>(file, static_cast<std::size_t>(external.offset),
                                                           static_cast<std::size_t>(expected));
    return {std::as_bytes(std::span(mapped->bytes())), mapped};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(expected));
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(external.offset);
  stream.read(reinterpret_cast<char*>(bytes.data()), expected);
  if (!stream || stream.gcount() != expected) throw Error(cat(given, "cannot be read"));
  return bytes;
}

// Numbers that each hold a byte, or an element of 6 bits.
std::vector<std::byte> typed_narrow(const TensorProto& tensor, const NarrowType& type, std::int64_t count,
                                    const std::string& what) {
  constexpr int byte_bits = 8;
  const bool is_packed = byte_bits % type.bits == 0;
  const std::int64_t numbers = is_packed ? packed_bytes(type, count) : count;
  const std::vector<std::byte> bytes = narrowed(tensor.int32_data, numbers, 1, what);
  if (is_packed) return unpacked(type, bytes, count);
  std::vector<std::byte> result;
  for (const std::byte& each : bytes) {
    const std::vector<std::byte> element = unpacked(type, std::span(&each, 1), 1);
    result.insert(result.end(), element.begin(), element.end());
  }
  return result;
}

// Elements that the graph holds in a wider type than the file.
std::vector<std::byte> narrow_bytes(const TensorProto& tensor, const NarrowType& type, std::int64_t count,
                                    const std::filesystem::path& folder, const std::string& what) {
  const std::int64_t packed = packed_bytes(type, count);
  if (tensor.data_location == format::DataLocation::external)
    return unpacked(type, external_bytes(tensor, folder, packed, what).read(), count);
  if (!tensor.raw_data.empty()) return unpacked(type, copied(tensor.raw_data, packed, what), count);
  return typed_narrow(tensor, type, count, what);
}

}  // namespace

graph::Array array_of(const TensorProto& tensor, const ReadOptions& options, const std::string& what) {
  const auto [dtype, narrow] = element_type(tensor.data_type, what);
  std::vector<std::int64_t> sizes = tensor.dims;
  const std::int64_t bytes = bytes_of(sizes, dtype, what);
  if (narrow != nullptr) {
    std::vector<std::byte> elements =
        narrow_bytes(tensor, *narrow, bytes / ops::size_of(dtype), options.folder, what);
    return {dtype, std::move(sizes), std::move(elements)};
  }
  if (tensor.data_location == format::DataLocation::external)
    return {dtype, std::move(sizes), external_bytes(tensor, options.folder, bytes, what)};
  if (!tensor.raw_data.empty())
    return {dtype, std::move(sizes), raw_bytes(tensor.raw_data, dtype, bytes, options.owner, what)};
  return {dtype, std::move(sizes), typed_bytes(tensor, dtype, bytes, what)};
}

namespace {

template <class Message>
Message parsed(std::string_view bytes, std::string_view words, const std::string& what) {
  return format::decoded<Message>(bytes, cat(what, ": is no ", words, " of ONNX"));
}

// Nothing says of the tensors of a sequence which narrow type they stand for.
graph::Array element_of(const TensorProto& tensor, const std::string& what) {
  (void)dtype_of(tensor.data_type, what);
  return array_of(tensor, {}, what);
}
Elements sequence_of(const format::SequenceProto& sequence, const std::string& what) {
  Elements elements;
  for (const TensorProto& tensor : sequence.tensor_values)
    elements.tensors.push_back(element_of(tensor, what));
  return elements;
}

}  // namespace

graph::Array read_tensor(std::string_view bytes, const std::string& what) {
  return array_of(parsed<TensorProto>(bytes, "tensor", what), {}, what);
}

Elements read_elements(std::string_view bytes, Kind kind, const std::string& what) {
  if (kind == Kind::tensor) return {{read_tensor(bytes, what)}, false};
  if (kind == Kind::sequence)
    return sequence_of(parsed<format::SequenceProto>(bytes, "sequence", what), what);
  const auto optional = parsed<format::OptionalProto>(bytes, "optional", what);
  if (optional.sequence_value) return sequence_of(*optional.sequence_value, what);
  Elements elements{{}, false};
  if (optional.tensor_value) elements.tensors.push_back(element_of(*optional.tensor_value, what));
  return elements;
}

}  // namespace twinloom::onnx
