// What operators and monoids take of a multiprocessor of compute capability 9.0, counted in machine code: the
// column `gpu` of pointwise.def and monoid.def. core/ops/cost.h says what it means.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tests/cuda/machine_code.h"

namespace twinloom::cuda {

struct Unit {
  std::string_view name;
  int lanes;                 // that it starts a clock
  std::string_view opcodes;  // of its instructions; empty: all
};

// Rates are those that NVIDIA gives for kinds of operations. That checks before divisions (FCHK) and
// roundings (FRND) are of the unit of special functions is told by their opcodes, which stand among its own.
// Instructions that are in the first row alone never hold others up: FP32, branches, those of a whole warp.
constexpr int ISSUED_LANES = 128;
constexpr std::array UNITS = {
    Unit{"issue", ISSUED_LANES, ""},
    Unit{"alu", 64,
         "LOP3 SHF IADD3 VIADD LEA SGXT BMSK IABS ISETP IMNMX VIMNMX VIADDMNMX FSETP FSET FMNMX FSEL SEL "
         "PLOP3 P2R R2P MOV PRMT I2FP F2FP"},
    Unit{"multiply", 64, "IMAD"},
    Unit{"fp64", 64, "DADD DMUL DFMA DSETP"},
    Unit{"special", 16, "MUFU FCHK FRND F2F F2I I2F FLO POPC BREV"},
};

// Instructions of one lane by unit.
using UnitCounts = std::array<double, UNITS.size()>;

struct GpuCost {
  std::string name;
  int listed = 0;  // the column `gpu`
  UnitCounts counts{};

  // Issue slots: of the unit that takes longest.
  double slots() const;
  int counted() const;  // the same as a column has it: whole, and at least 1
};

// All operators, then all monoids. Wants NVRTC and the path of nvdisasm.
std::vector<GpuCost> counted_costs(const std::string& nvdisasm);

}  // namespace twinloom::cuda
