// See source_target.h.
#include "backends/cuda/source_target.h"

#include <algorithm>

#include "backends/cuda/cuda.h"
#include "backends/cuda/device/sort_step.h"
#include "backends/cuda/device_text.h"
#include "backends/cuda/dialect.h"
#include "backends/cuda/launch.h"
#include "core/base/error.h"
#include "core/emit/emit.h"
#include "core/loops/rewrite.h"

namespace twinloom::cuda {

namespace {

using sources::Call;
using sources::File;

std::string as_list(const std::vector<std::string>& texts) {
  return join(texts, ", ", [](const std::string& text) { return text; });
}

// Kernels of one library must differ in their names.
class SourceDialect final : public CudaDialect {
 public:
  SourceDialect(Handed handed, const std::string& function) : CudaDialect(handed), function_(function) {}
  std::string function(const loops::Program&) const override { return function_; }

 private:
  std::string function_;
};

std::string name_for_any(const std::string& function) { return cat(function, "_any"); }

class SourceTarget final : public sources::Target {
 public:
  std::string describe() const override { return "GPUs of compute capability 9.0"; }
  std::string language() const override { return "CUDA C++"; }
  std::string suffix() const override { return ".cu"; }

  std::string kernel(const loops::Program& program, const std::string& function,
                     std::string_view comment) const override {
    return cat(
        emit::emit(program, SourceDialect(Handed::usual, function), comment), "\n",
        emit::emit(program, SourceDialect(Handed::any, name_for_any(function)),
                   "The same for pointers that are no multiples of 16 bytes and for sizes from 2^30 on."));
  }
  std::vector<File> headers() const override;

  std::vector<std::string> interface_includes() const override {
    return {"", "#include <cuda_runtime_api.h>"};
  }
  std::vector<std::string> interface_words() const override {
    return {
        "Pointers are of memory that the current device reads and writes. The work is put on the stream; it",
        "is waited for where elements are used as indices, else by the caller. Throws std::runtime_error",
        "where CUDA fails."};
  }
  std::string stream_type() const override { return "cudaStream_t"; }

  std::string declaration(const loops::Program& program, const std::string& function) const override;
  std::string launch(const Call& call) const override;
  std::string constant(const std::string& name, std::size_t bytes) const override {
    return cat("on_device(", name, ", ", bytes, ")");
  }

  std::vector<std::string> cmake_before() const override {
    return {"if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)", "  set(CMAKE_CUDA_ARCHITECTURES 90a)", "endif()"};
  }
  std::string cmake_languages() const override { return "CXX CUDA"; }
  std::vector<std::string> cmake_packages() const override { return {"find_package(CUDAToolkit REQUIRED)"}; }
  std::vector<std::string> cmake_library(const std::string& name) const override {
    return {
        "# Results have the bits that they have in Twinloom: nothing is contracted. CMake may be older than "
        "nvcc",
        "# and not know how it is asked for C++20. 177: what is declared and not used; 186: x < 0 of "
        "unsigned x.",
        cat("target_compile_options(", name,
            " PRIVATE \"$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;--expt-relaxed-constexpr;"
            "--fmad=false;--prec-div=true;--prec-sqrt=true;--ftz=false;--diag-suppress=186,177>\")"),
        cat("target_link_libraries(", name, " PUBLIC CUDA::cudart)")};
  }
  std::vector<std::string> compiled_headers(
      const std::vector<const loops::Program*>& programs) const override {
    const bool sorts = std::ranges::any_of(
        programs, [](const loops::Program* program) { return routine_of(*program) != nullptr; });
    return sorts ? std::vector<std::string>{"backends/cuda/sort.cpp"} : std::vector<std::string>{};
  }
  std::string needs() const override {
    return "Needed are nvcc of CUDA 12 or later, with g++ as the compiler of the host, and CMake. Kernels "
           "are planned "
           "for an H100 or H200; with\n-DCMAKE_CUDA_ARCHITECTURES=80 and the like they are compiled for "
           "other GPUs, "
           "with the same bits.";
  }
};

std::vector<File> SourceTarget::headers() const {
  std::vector<File> files;
  for (const Header& header : all_headers())
    files.push_back({cat("include/", header.path), std::string(header.text)});
  for (const auto& more : {cuda_exported_headers(), sort_sources()})
    files.insert(files.end(), more.begin(), more.end());
  // The library's own files name it by where it lies there.
  files.push_back(
      {"include/backends/cuda/device/sort_step.h", "#pragma once\n#include \"cuda/sort_step.h\"\n"});
  return files;
}

std::string SourceTarget::declaration(const loops::Program& program, const std::string& function) const {
  std::vector<std::string> parameters(buffer_count(program), "void*");
  parameters.insert(parameters.end(), program.sizes.size(), "Integer");
  parameters.emplace_back("FailureRecord*");
  if (routine_of(program) != nullptr) parameters.emplace_back("twinloom::cuda::SortStep");
  const std::string list = as_list(parameters);
  return cat("extern \"C\" void ", function, "(", list, ");\nextern \"C\" void ", name_for_any(function), "(",
             list, ");");
}

std::string SourceTarget::launch(const Call& call) const {
  const loops::Program& program = call.program;
  const loops::Call* const routine = routine_of(program);
  std::vector<std::string> small;
  for (const loops::SizeInfo& size : program.sizes)
    if (is_size(size)) small.push_back(cat(call.text(size.symbol), " < LARGE_SIZE"));
  const std::string kernel =
      cat("{", call.function, ", ", name_for_any(call.function), ", ", block_threads(program), ", ",
          shared_bytes(program), ", ", loops::looks_up_indices(*program.body) ? "true" : "false", "}");
  const std::string handed =
      cat(kernel, ", {", call.buffers, "}, {", call.sizes, "}, ",
          small.empty() ? "true" : join(small, " && ", [](const std::string& text) { return text; }));
  if (routine == nullptr)
    return cat("run.launch(", handed, ", ", call.text(emit::task_count(program) * cluster_blocks(program)),
               ")");
  const loops::CallSizes sizes = loops::call_sizes(*routine);
  return cat("run.sort(", handed, ", {", call.text(sizes.rows), ", ", call.text(sizes.n), ", ",
             call.text(sizes.bound), ", ", loops::has_starts(*routine) ? "true" : "false", "})");
}

}  // namespace

std::unique_ptr<const sources::Target> make_source_target(const std::string& architecture) {
  check_architecture(architecture, "sources");
  return std::make_unique<const SourceTarget>();
}

}  // namespace twinloom::cuda
