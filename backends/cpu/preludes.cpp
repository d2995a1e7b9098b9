// The compiled preludes that travel inside the library: what precompile/precompile.cpp wrote into
// TWINLOOM_PRELUDES when the project was built.
#include "backends/cpu/dialect.h"
#include "core/base/error.h"

#define TWINLOOM_PRELUDE(isa)                                    \
  asm(".pushsection .rodata\n.balign 16\n"                       \
      "twinloom_prelude_" #isa                                   \
      ":\n"                                                      \
      ".incbin \"" TWINLOOM_PRELUDES "/" #isa                    \
      ".pch\"\n"                                                 \
      "twinloom_prelude_" #isa "_end:\n.byte 0\n.popsection\n"); \
  extern "C" const char twinloom_prelude_##isa[], twinloom_prelude_##isa##_end[];

TWINLOOM_PRELUDE(avx2)
TWINLOOM_PRELUDE(avx512)

namespace twinloom::cpu {

std::string_view precompiled_prelude(const Isa& isa) {
  if (isa.name == "avx2") return {twinloom_prelude_avx2, twinloom_prelude_avx2_end};
  if (isa.name == "avx512") return {twinloom_prelude_avx512, twinloom_prelude_avx512_end};
  throw Bug(cat("instruction set ", isa.name, " without a compiled prelude"));
}

}  // namespace twinloom::cpu
