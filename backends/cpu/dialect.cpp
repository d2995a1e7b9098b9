// See dialect.h.
#include "backends/cpu/dialect.h"

#include "core/base/text.h"
#include "core/emit/emit.h"
#include "core/machine/machine.h"
#include "core/ops/device_text.h"

namespace twinloom::cpu {

using ops::DType;

std::string CpuDialect::head(const loops::Program&) const {
  return "extern \"C\" void kernel(const Arguments* arguments, i64 begin, i64 end)";
}

std::vector<std::string> CpuDialect::opening(const loops::Program& program) const {
  const loops::Call* const call = loops::routine_of(program);
  if (call == nullptr) return {};
  switch (call->routine) {
    case loops::Routine::stable_sort:
      CHECK(loops::has_starts(*call), "a core sorts by the first places of keys");
      return {"const StableSort stable_sort{begin, end};"};
    case loops::Routine::sums_by_key:
      return {"const SumsByKey sums_by_key{begin, end};"};
  }
  return {};
}

std::string CpuDialect::task(const std::string& task, std::int64_t) const {
  return cat("for (i64 ", task, " = begin; ", task, " < end; ++", task, ") {");
}

std::string CpuDialect::array(const std::string& type, const std::string& name, const std::string& count,
                              loops::Place) const {
  return cat("alignas(64) alignas(", type, ") ", type, " ", name, "[", count, "];");
}

// As many rows as half of AVX-512's registers hold, each at most one of them.
bool CpuDialect::transposes(DType dtype, int count) const {
  constexpr int LEAST = 4, REGISTER_BYTES = 64;
  return count >= LEAST && count * ops::size_of(dtype) <= REGISTER_BYTES;
}

bool CpuDialect::loads_every(std::int64_t stride, int lanes) const {
  return stride >= 2 && stride <= machine::MOST_APART && lanes >= 2 * stride;
}

std::vector<jit::VirtualFile> all_headers() {
  std::vector<jit::VirtualFile> headers;
  for (const ops::DeviceHeader& header : ops::device_headers())
    headers.push_back({std::string(header.path), header.text});
  for (const jit::VirtualFile& header : cpu_headers()) headers.push_back(header);
  for (const jit::VirtualFile& header : abi_headers()) headers.push_back(header);
  return headers;
}

std::string prelude() {
  return "#include \"cpu/routines.h\"\n#include \"cpu/transpose.h\"\n#include \"cpu/every.h\"\n";
}

}  // namespace twinloom::cpu
