// One array as NumPy's .npy format has it: a magic number, a version, and a header that is a Python
// dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, then the elements.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/error.h"
#include "core/base/files.h"
#include "core/base/integers.h"
#include "core/base/memory.h"
#include "frontends/arrays/arrays.h"

namespace twinloom::arrays {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are copied as they lie in the file");

constexpr std::string_view magic = "\x93NUMPY";

struct Row {
  std::string_view descr;  // without the byte order
  ops::DType dtype;
};
constexpr std::array rows = {
    Row{"b1", ops::DType::b8},  Row{"i1", ops::DType::i8},  Row{"i2", ops::DType::i16},
    Row{"i4", ops::DType::i32}, Row{"i8", ops::DType::i64}, Row{"u1", ops::DType::u8},
    Row{"u2", ops::DType::u16}, Row{"u4", ops::DType::u32}, Row{"u8", ops::DType::u64},
    Row{"f2", ops::DType::f16}, Row{"f4", ops::DType::f32}, Row{"f8", ops::DType::f64},
};
// A last axis of 2 holds the parts of complex elements.
constexpr std::array complex_rows = {Row{"c8", ops::DType::f32}, Row{"c16", ops::DType::f64}};

struct Header {
  ops::DType dtype = ops::DType::f32;
  bool is_complex = false;
  bool fortran = false;
  std::vector<std::int64_t> sizes;
};

[[noreturn]] void fail(std::string_view what, std::string_view reason) {
  throw Error(cat(escaped(what), ": not a usable .npy array: ", reason));
}

// The text after `'key':`, up to the end of the header.
std::string_view after_key(std::string_view header, std::string_view key, std::string_view what) {
  const std::string quoted = cat("'", key, "'");
  const std::size_t at = header.find(quoted);
  if (at == std::string_view::npos) fail(what, cat("its header has no ", quoted));
  std::string_view rest = header.substr(at + quoted.size());
  while (!rest.empty() && (rest.front() == ':' || rest.front() == ' ')) rest.remove_prefix(1);
  return rest;
}

void parse_descr(Header& header, std::string_view rest, std::string_view what) {
  if (rest.size() < 2 || rest[0] != '\'') fail(what, "'descr' is not a plain type");
  std::string_view descr = rest.substr(1, rest.find('\'', 1) - 1);
  const std::string whole(descr);
  if (descr.starts_with('>'))
    fail(what, cat("type '", escaped(whole), "' is big-endian; little-endian is read"));
  if (!descr.empty() && std::string_view("<|=").find(descr.front()) != std::string_view::npos)
    descr.remove_prefix(1);
  const auto* row = std::ranges::find(rows, descr, &Row::descr);
  const auto* pair = std::ranges::find(complex_rows, descr, &Row::descr);
  header.is_complex = pair != complex_rows.end();
  if (row == rows.end() && !header.is_complex) {
    fail(what, cat("type '", escaped(whole),
                   "' is not one of bool, (u)int8..64, float16..64, complex64, complex128"));
  }
  header.dtype = header.is_complex ? pair->dtype : row->dtype;
}

std::vector<std::int64_t> parse_shape(std::string_view rest, std::string_view what) {
  if (!rest.starts_with('(')) fail(what, "'shape' is not a tuple");
  rest.remove_prefix(1);
  std::vector<std::int64_t> sizes;
  while (true) {
    while (!rest.empty() && (rest.front() == ' ' || rest.front() == ',')) rest.remove_prefix(1);
    if (rest.starts_with(')')) return sizes;
    std::int64_t size = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
    if (status != std::errc() || size < 0) fail(what, "'shape' holds something that is not a size");
    if (sizes.size() == 64) fail(what, "it has more than 64 dimensions");
    sizes.push_back(size);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
}

// The header's text and where the elements start.
std::pair<std::string_view, std::size_t> find_header(std::string_view bytes, std::string_view what) {
  if (bytes.size() < 10 || !bytes.starts_with(magic)) fail(what, "it does not start as NumPy's format does");
  const auto byte = [&](std::size_t at) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) fail(what, cat("version ", version, " of the format; 1 to 3 are read"));
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) fail(what, "it ends within its header");
  std::size_t length = byte(8) + (byte(9) << 8);
  if (version > 1) length += (byte(10) << 16) + (byte(11) << 24);
  if (bytes.size() - start < length) fail(what, "it ends within its header");
  return {bytes.substr(start, length), start + length};
}

Header parse_header(std::string_view text, std::string_view what) {
  Header header;
  parse_descr(header, after_key(text, "descr", what), what);
  header.fortran = after_key(text, "fortran_order", what).starts_with("True");
  header.sizes = parse_shape(after_key(text, "shape", what), what);
  if (header.is_complex) header.sizes.push_back(2);
  return header;
}

std::int64_t checked_count(const Header& header, std::string_view what, const Limits& limits) {
  std::int64_t count = 1;
  for (const std::int64_t size : header.sizes) {
    const auto next = checked_multiply(count, size);
    if (!next) fail(what, "its shape has more elements than 64 bits count");
    count = *next;
  }
  const auto bytes = checked_multiply(count, ops::size_of(header.dtype));
  if (!bytes || *bytes > limits.bytes) fail(what, cat("it asks for more than ", limits.bytes, " bytes"));
  return count;
}

}  // namespace

runtime::Tensor parse_npy(std::string_view bytes, std::string_view what, const Limits& limits) {
  const auto [text, start] = find_header(bytes, what);
  const Header header = parse_header(text, what);
  const auto needed =
      static_cast<std::size_t>(checked_count(header, what, limits) * ops::size_of(header.dtype));
  if (bytes.size() - start < needed) {
    fail(what, cat("its shape needs ", needed, " bytes of elements, there are ", bytes.size() - start));
  }
  runtime::Tensor tensor = runtime::allocate(header.dtype, header.sizes);
  if (needed != 0) std::memcpy(tensor.data, bytes.data() + start, needed);
  if (!header.fortran) return tensor;
  // The parts of an element lie beside each other in either order.
  std::vector<std::int64_t> reversed(header.sizes.rbegin(), header.sizes.rend());
  if (header.is_complex) std::rotate(reversed.begin(), reversed.begin() + 1, reversed.end());
  std::vector<std::int64_t> strides = runtime::contiguous_strides(reversed);
  std::reverse(strides.begin(), strides.end() - (header.is_complex ? 1 : 0));
  tensor.strides = strides;
  return runtime::contiguous(tensor);
}

std::string print_npy(const runtime::Tensor& given) {
  const runtime::Tensor tensor = runtime::contiguous(given);
  const auto* row =
      std::ranges::find(rows, tensor.dtype == ops::DType::bf16 ? ops::DType::u16 : tensor.dtype, &Row::dtype);
  if (row == rows.end()) throw Error(cat("NumPy has no type for ", ops::name(tensor.dtype)));
  const char order = ops::size_of(tensor.dtype) == 1 ? '|' : '<';
  std::string shape = join(tensor.sizes, ", ", [](std::int64_t size) { return cat(size); });
  if (tensor.sizes.size() == 1) shape += ",";
  std::string header =
      cat("{'descr': '", order, row->descr, "', 'fortran_order': False, 'shape': (", shape, "), }");
  constexpr std::size_t fixed = 10 + 1;  // magic, version, length; end of line
  header.append((64 - (fixed + header.size()) % 64) % 64, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += '\x01';
  bytes += '\x00';
  bytes += static_cast<char>(header.size() & 0xff);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  const auto count = static_cast<std::size_t>(runtime::element_count(tensor) * ops::size_of(tensor.dtype));
  bytes.append(static_cast<const char*>(tensor.data), count);
  return bytes;
}

runtime::Tensor read_npy(const std::filesystem::path& file, const Limits& limits) {
  // The bytes and the tensor are there at the same time.
  return parse_npy(read_bytes(file, std::min(limits.bytes, available_memory() / 2)), file.string(), limits);
}

void write_npy(const std::filesystem::path& file, const runtime::Tensor& tensor) {
  const std::string bytes = print_npy(tensor);
  std::filesystem::path temporary = file;
  temporary += ".partial";
  {
    std::ofstream stream(temporary, std::ios::binary);
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!stream.flush()) throw Error(cat("cannot write '", escaped(file.string()), "'"));
  }
  std::filesystem::rename(temporary, file);
}

}  // namespace twinloom::arrays
