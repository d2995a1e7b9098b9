// See source_target.h.
#include "backends/cpu/source_target.h"

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernel.h"
#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cpu {

namespace {

using sources::Call;
using sources::File;

// Kernels of one library must differ in their names.
class SourceDialect final : public CpuDialect {
 public:
  explicit SourceDialect(const std::string& function) : function_(function) {}
  std::string head(const loops::Program&) const override {
    return cat("extern \"C\" void ", function_, "(const Arguments* arguments, i64 begin, i64 end)");
  }

 private:
  std::string function_;
};

class SourceTarget final : public sources::Target {
 public:
  explicit SourceTarget(const std::string& isa) : isa_(choose_isa(isa, /*compile_only=*/true)) {}

  std::string describe() const override { return cat("processors with ", isa_.name); }
  std::string language() const override { return "C++"; }
  std::string suffix() const override { return ".cpp"; }

  std::string kernel(const loops::Program& program, const std::string& function,
                     std::string_view comment) const override {
    return cat("#include \"kernels.h\"\n\n", emit::emit(program, SourceDialect(function), comment));
  }

  std::vector<File> headers() const override {
    std::vector<File> files = {
        {"include/kernels.h", cat("// All that kernels include.\n#pragma once\n\n", prelude())}};
    for (const jit::VirtualFile& header : all_headers())
      files.push_back({cat("include/", header.path), std::string(header.text)});
    for (const auto& more : {cpu_exported_headers(), task_headers(), floating_point_headers()})
      files.insert(files.end(), more.begin(), more.end());
    return files;
  }

  std::string declaration(const loops::Program&, const std::string& function) const override {
    return cat("extern \"C\" void ", function, "(const Arguments*, Integer, Integer);");
  }
  std::string launch(const Call& call) const override {
    return cat("run.launch(", call.function, ", {", call.buffers, "}, {", call.sizes, "}, ",
               call.text(task_count(call.program)), ")");
  }
  std::string constant(const std::string& name, std::size_t) const override {
    return cat("const_cast<unsigned char*>(", name, ")");
  }

  std::string cmake_languages() const override { return "CXX"; }
  std::vector<std::string> cmake_packages() const override {
    return {"# Headers alone: packages of xsimd 8.1 ask whoever links to them for a library that is none.",
            "find_path(XSIMD_FOLDER xsimd/xsimd.hpp REQUIRED)",
            "# Without OpenMP each kernel runs on one thread.", "find_package(OpenMP COMPONENTS CXX)"};
  }
  std::vector<std::string> cmake_library(const std::string& name) const override {
    return {cat("target_include_directories(", name, " PRIVATE ${XSIMD_FOLDER})"),
            "# Results have the bits that they have in Twinloom: nothing is contracted, integers wrap.",
            cat("target_compile_options(", name, " PRIVATE -march=", isa_.target.cpu,
                " -ffp-contract=off -fno-math-errno -fwrapv -fno-strict-aliasing)"),
            "# Vectors wider than a register are passed only to functions that are inlined.",
            cat("target_compile_options(", name, " PRIVATE -Wno-psabi)"),
            "if(OpenMP_CXX_FOUND)",
            cat("  target_link_libraries(", name, " PRIVATE OpenMP::OpenMP_CXX)"),
            "endif()"};
  }
  std::string needs() const override {
    return "Needed are C++20 by g++ (12 or later) or clang++, and xsimd, from which g++'s kernels have their "
           "registers;\nwith OpenMP kernels run on several threads.";
  }

 private:
  Isa isa_;
};

}  // namespace

std::unique_ptr<const sources::Target> make_source_target(const std::string& isa) {
  return std::make_unique<const SourceTarget>(isa);
}

}  // namespace twinloom::cpu
