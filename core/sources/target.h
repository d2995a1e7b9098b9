// What of exported sources is a back end's: how a kernel's file reads, how the function calls it, how all of
// it is compiled. backends/*/source_target.h have one each.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/loops/loops.h"
#include "core/sources/file.h"

namespace twinloom::sources {

// One kernel as the function calls it.
struct Call {
  const loops::Program& program;
  std::string function;  // the kernel's name in C
  std::string buffers;  // C++, one for each buffer of the program that is not local, with commas between them
  std::string sizes;    // the same of Program::sizes
  std::function<std::string(const index::Expr&)> text;  // of the graph's symbols, as C++
};

class Target {
 public:
  virtual ~Target() = default;
  // What kernels run on, behind "compiled for" and "as": "processors with avx2", "C++".
  virtual std::string describe() const = 0;
  virtual std::string language() const = 0;
  // Of the files in kernels/: ".cpp".
  virtual std::string suffix() const = 0;
  // A file that defines the program as that function, extern "C". The comment stands on top.
  virtual std::string kernel(const loops::Program& program, const std::string& function,
                             std::string_view comment) const = 0;
  // Those in include/. Among them are launch.h, which defines Run and Workspace, and sample_memory.h.
  virtual std::vector<File> headers() const = 0;

  // Lines of the header: what it includes, and what is to be known of pointers and of when the work is done.
  virtual std::vector<std::string> interface_includes() const { return {}; }
  virtual std::vector<std::string> interface_words() const { return {}; }
  // A parameter of the function that Run and Workspace are made with, its name alone; empty: none.
  virtual std::string stream_type() const { return {}; }

  // The kernel's declaration, and a statement that calls it as a member of `run`.
  virtual std::string declaration(const loops::Program& program, const std::string& function) const = 0;
  virtual std::string launch(const Call& call) const = 0;
  // A pointer for kernels to an array of bytes in the library: void*.
  virtual std::string constant(const std::string& name, std::size_t bytes) const = 0;

  // Of CMakeLists.txt: before project(), its languages, behind it, and behind the library of that name. And
  // files of include/ that are compiled with these kernels.
  virtual std::vector<std::string> cmake_before() const { return {}; }
  virtual std::string cmake_languages() const = 0;
  virtual std::vector<std::string> cmake_packages() const = 0;
  virtual std::vector<std::string> cmake_library(const std::string& name) const = 0;
  virtual std::vector<std::string> compiled_headers(const std::vector<const loops::Program*>&) const {
    return {};
  }
  // What the build needs, for README.md.
  virtual std::string needs() const = 0;
};

// The headers that the functions and tests of all targets include.
std::vector<File> exported_headers();

}  // namespace twinloom::sources
