// Arrays in files: .npy and .npz (as NumPy writes them, stored or deflated). Files are untrusted: every
// size, count and offset is checked before it is used, and every mistake is an Error with the file's
// name. Types: what NumPy calls ? b h i l B H I L e f d, and F and D with the parts of an element along a last
// axis of 2; bfloat16 is stored by convention as uint16 (see Archive::Entry). Little-endian and C or Fortran order are read; C order is written.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/tensor.h"

namespace twinloom::arrays {

// Limits on what a file may ask for. Never more than the memory that is available.
struct Limits {
  std::int64_t bytes = std::int64_t{1} << 40;  // of one array
  std::size_t entries = 1 << 20;               // of one archive
  // All arrays of a compressed archive together have at most `growth` times its own bytes; up to `small`
  // bytes it may be more.
  std::int64_t growth = 256;
  std::int64_t small = std::int64_t{256} << 20;
};

runtime::Tensor read_npy(const std::filesystem::path& file, const Limits& limits = {});
void write_npy(const std::filesystem::path& file, const runtime::Tensor& tensor);

struct Entry {
  std::string name;  // without ".npy"
  runtime::Tensor tensor;
};

// In the order of the archive.
std::vector<Entry> read_npz(const std::filesystem::path& file, const Limits& limits = {});
// Stored without compression; written to a temporary name and renamed.
void write_npz(const std::filesystem::path& file, const std::vector<Entry>& entries);

// The bytes of an .npy file in memory. `what` names it in messages.
runtime::Tensor parse_npy(std::string_view bytes, std::string_view what, const Limits& limits = {});
std::string print_npy(const runtime::Tensor& tensor);

}  // namespace twinloom::arrays
