// The column `gpu` of the tables of operators and monoids, counted again in the machine code that NVRTC makes
// of their functions, and how it is counted.
#include <gtest/gtest.h>

#include "tests/cuda/compiler.h"
#include "tests/cuda/gpu_cost.h"

namespace twinloom::cuda {
namespace {

std::string print(const GpuCost& cost) {
  std::string text = cost.name;
  for (std::size_t unit = 0; unit < UNITS.size(); ++unit)
    text += cat(" ", UNITS[unit].name, " ", cost.counts[unit]);
  return text;
}

TEST(GpuCost, IsWhatTheMachineCodeHas) {
  TWINLOOM_NEEDS_NVRTC();
  const std::string nvdisasm = nvdisasm_path();
  if (nvdisasm.empty()) GTEST_SKIP() << "nvdisasm is neither in PATH nor in a toolkit or wheel of CUDA";
  for (const GpuCost& cost : counted_costs(nvdisasm)) {
    const int found = cost.counted();
    // Of another version of the compiler a few may be another number.
    EXPECT_NEAR(cost.listed, found, 2 + found / 8) << print(cost);
  }
}

TEST(MachineCode, AFastPathGoesAroundASlowOneAndIntoAFunction) {
  const MachineCode code(R"(
row_div:
.text.row_div:
        /*0000*/                   FCHK P0, R0, R5 ;
        /*0010*/              @!P0 BRA `(.L_x_0) ;
        /*0020*/                   CALL.REL.NOINC `($slow) ;
.L_x_0:
        /*0030*/                   CALL.REL.NOINC `($row_div$usual) ;
        /*0040*/                   STG.E desc[UR4][R2.64], R7 ;
        /*0050*/                   EXIT ;
.L_x_1:
        /*0060*/                   BRA `(.L_x_1);
        /*0070*/                   NOP;
$slow:
        /*0080*/                   FADD.FTZ R7, R0, R3 ;
        /*0090*/                   RET.REL.NODEC R2 `(row_div) ;
$row_div$usual:
        /*00a0*/               @P1 BRA !P2, `(.L_x_2) ;
        /*00b0*/                   MUFU.RCP R4, R5 ;
.L_x_2:
        /*00c0*/              @!P1 FMUL R7, R4, R0 ;
        /*00d0*/                   RET.REL.NODEC R2 `(row_div) ;
)");
  const std::vector<std::string_view> wanted = {"FCHK", "BRA",           "CALL.REL.NOINC", "BRA",
                                                "FMUL", "RET.REL.NODEC", "STG.E",          "EXIT"};
  EXPECT_EQ(code.fast_path("row_div"), wanted);
}

}  // namespace
}  // namespace twinloom::cuda
