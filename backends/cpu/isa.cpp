// See isa.h. The compiler's own CPUID test also asks the system whether it saves the wide registers.
#include "backends/cpu/isa.h"

#include "backends/cpu/cpu.h"
#include "core/base/error.h"

namespace twinloom::cpu {

namespace {

bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt");
}

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

}  // namespace

std::vector<Isa> all_isas() {
  return {{"avx2", {"x86-64-v3", {}, 256}, 32, 16, false}, {"avx512", {"x86-64-v4", {}, 512}, 64, 32, true}};
}

bool is_supported(const Isa& isa) { return isa.name == "avx512" ? has_avx512() : has_avx2(); }

std::vector<std::string> supported_isas() {
  std::vector<std::string> names;
  for (const Isa& isa : all_isas())
    if (is_supported(isa)) names.push_back(isa.name);
  return names;
}

Isa choose_isa(std::string_view name, bool compile_only) {
  std::vector<std::string> known;
  std::vector<Isa> usable;
  for (Isa& isa : all_isas()) {
    known.push_back(isa.name);
    if (isa.name == name && !compile_only && !is_supported(isa))
      throw Error(cat("cpu: this CPU does not have the instruction set '", name, "'"));
    if (isa.name == name || (name.empty() && is_supported(isa))) usable.push_back(std::move(isa));
  }
  if (!usable.empty()) return usable.back();
  if (name.empty()) throw Error("cpu: this CPU has no AVX2, FMA and F16C, which kernels need");
  throw Error(cat("cpu: unknown instruction set '", escaped(name), "'; known are ",
                  join(known, " and ", [](const std::string& isa) { return isa; })));
}

}  // namespace twinloom::cpu
