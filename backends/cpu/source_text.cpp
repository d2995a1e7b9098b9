// See source_text.h.
#include "backends/cpu/source_text.h"

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "core/emit/emit.h"

namespace twinloom::cpu {

namespace {

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

}  // namespace

std::string source_text(const loops::Program& program, const std::string& function,
                        std::string_view comment) {
  const std::string kernel = emit::emit(program, SourceDialect(function), comment);
  return cat("#include \"kernels.h\"\n\n", kernel);
}

std::vector<jit::VirtualFile> source_headers() {
  static const std::string kernels = cat("// All that kernels include.\n#pragma once\n\n", prelude());
  std::vector<jit::VirtualFile> headers = all_headers();
  headers.push_back({"kernels.h", kernels});
  for (const auto& shared : {task_headers(), floating_point_headers()})
    headers.insert(headers.end(), shared.begin(), shared.end());
  for (const jit::VirtualFile& header : exported_headers()) {
    headers.push_back(header);
    headers.back().path.erase(0, std::string_view("exported/").size());
  }
  return headers;
}

std::vector<std::string> compiler_flags(std::string_view isa) {
  const Isa chosen = choose_isa(isa, /*compile_only=*/true);
  return {cat("-march=", chosen.target.cpu), "-ffp-contract=off", "-fno-math-errno", "-fwrapv",
          "-fno-strict-aliasing"};
}

}  // namespace twinloom::cpu
