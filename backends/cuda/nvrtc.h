// CUDA C++ to machine code, by NVRTC, which is opened at run time and needs no GPU.
//   const Nvrtc nvrtc;
//   Compiled kernel = nvrtc.compile(text, "kernel_1", {{"device/kernel.h", header}}, {.architecture =
//   "sm_90a"});
// Every file that a text may include is handed in; the disk is never read. Floating point is exact to the
// letter: no contraction, IEEE division and square roots, subnormals kept. Functions and lambdas without an
// annotation are device code.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/cuda/library.h"
#include "core/base/error.h"

namespace twinloom::cuda {

// NVRTC finds a header by the very words of an #include: not beside the file that includes it.
struct Header {
  std::string path;
  std::string_view text;
};

struct NvrtcOptions {
  std::string architecture;        // "sm_90a": machine code; "compute_90": PTX for what is newer
  std::vector<std::string> flags;  // after those that every text is compiled with
};

struct Compiled {
  std::string bytes;    // a cubin; PTX for an architecture that begins with "compute"
  std::string log;      // what NVRTC says of a text that it takes: warnings
  bool spills = false;  // values that found no register lie in memory; never of PTX
};

struct NvrtcVersion {
  int major = 0;
  int minor = 0;
  friend auto operator<=>(const NvrtcVersion&, const NvrtcVersion&) = default;
};

// The library, of version 12 or newer. Error where there is none, with the places that were searched and what
// was wrong there.
Library open_nvrtc(const LibraryPlaces& places);

class Nvrtc {
 public:
  // Where no library is of version 12 or newer: an Error that says where was looked.
  Nvrtc();
  ~Nvrtc();
  Nvrtc(Nvrtc&&) noexcept;
  Nvrtc& operator=(Nvrtc&&) noexcept;

  // Any number of threads may compile at once. A text that NVRTC refuses is a Bug, with the log and the
  // lines of the text numbered. `name` is a plain file name.
  Compiled compile(const std::string& text, const std::string& name, const std::vector<Header>& headers,
                   const NvrtcOptions& options) const;

  using Version = NvrtcVersion;
  Version version() const;
  const std::string& path() const;  // of the library
  // Everything besides text, headers and options that decides what the machine code is: version and the
  // flags that are always given. Lines of a name and its text; for cache keys.
  std::string identity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace twinloom::cuda
