// A graph with kernels compiled for the machines that will run it, as one file that is mapped into memory.
//   write_package("model.twinloom", contents);                                  // where compilers are
//   const Package package = Package::open("model.twinloom");                    // where none is
//   const runtime::Executable executable = package.executable(backend);
// The file is little endian, numbers of 8 bytes:
//   magic | format | bytes before the arrays | bytes of the header | header | pieces | checksum | arrays
// The header is JSON: the version of Twinloom, the mode, where the pieces lie, the graph, the arrays with a
// checksum each, the entries. Pieces and arrays begin at multiples of 64 bytes; a piece is the text of the
// graph, the text of a variant (JSON: variants.h) or the machine code of a kernel. Arrays are not copied:
// kernels on the host read them in the file. A file that is damaged, cut off, foreign, or of another version
// is an Error; of an array's bytes, when a run first uses it. A checksum is no signature: machine code runs
// with the rights of who loads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/lower/unit.h"
#include "core/runtime/backend.h"
#include "core/runtime/executable.h"
#include "core/runtime/variant.h"

namespace twinloom::package {

inline constexpr std::uint64_t format_version = 5;

// The kernels of one target, for arguments of these layouts and for the sizes of the variant's class.
struct Entry {
  std::string target;  // of Backend::targets
  lower::Layouts layouts;
  std::shared_ptr<const runtime::Variant> variant;  // its steps have code in place of kernels
};

struct Contents {
  graph::Graph graph;
  std::string mode;                       // that the kernels were compiled in: "strict", "fused", "fast"
  std::vector<std::string> relaxed = {};  // of mode "fast", by name
  std::vector<Entry> entries;
};

// In place of a file of that name. Error where it cannot be written.
void write_package(const std::filesystem::path& file, const Contents& contents);

// An open package; copies share it. Thread-safe.
class Package {
 public:
  // Error naming the file where it is no package that this version reads.
  static Package open(const std::filesystem::path& file);
  // Whether the bytes at the front of a file are those of a package.
  static bool begins(std::string_view bytes);

  const graph::Graph& graph() const;
  const std::string& mode() const;
  const std::vector<std::string>& relaxed() const;
  // Of the entry that stands first.
  const lower::Layouts& layouts() const;
  // What it has kernels for, each once, in the order of the file.
  std::vector<std::string> targets() const;

  // Runs on the device what is in the package. For anything else `fallback` makes the kernels; where it is
  // empty, that is an Error that says what the package holds. The package may go before it.
  runtime::Executable executable(std::shared_ptr<const runtime::Backend> backend,
                                 runtime::Executable::Maker fallback = {}) const;

 private:
  struct State;
  explicit Package(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace twinloom::package
