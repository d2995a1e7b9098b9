// The machine code of a cubin as instructions, and what of it usual inputs run. NVIDIA's nvdisasm lists it.
//           FCHK P0, R0, R5 ;
//      @!P0 BRA `(.L_x_0) ;          runs: FCHK, BRA, STG, EXIT
//           CALL.REL.NOINC `($slow) ;
//   .L_x_0: STG.E [R2], R7 ;
//           EXIT ;
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace twinloom::cuda {

struct Instruction {
  bool is_conditional = false;  // stands behind a predicate
  std::string opcode;           // "MUFU.RCP"
  std::string operands;         // "R4, R5"
};

class MachineCode {
 public:
  // A listing of nvdisasm.
  explicit MachineCode(const std::string& listing);

  // The opcodes that a call of the function runs on its fast path, those of functions that it calls there
  // included: of all ways to its end the one of fewest instructions. Slow paths are blocks of their own that
  // a branch goes around; a loop is run once.
  std::vector<std::string_view> fast_path(const std::string& function) const;

 private:
  std::vector<std::string_view> fast_path_from(std::size_t start) const;
  std::vector<std::size_t> shortest_path(std::size_t start) const;
  std::size_t length_of(std::size_t at) const;
  std::vector<std::size_t> next_of(std::size_t at) const;
  std::size_t target_of(std::size_t at) const;

  std::vector<Instruction> instructions_;
  std::map<std::string, std::size_t, std::less<>> labels_;  // the instruction behind each
};

// Where nvdisasm is: in PATH, a toolkit, NVIDIA's wheels or Triton's. Empty where it is not found.
std::string nvdisasm_path();
// What the nvdisasm at this path lists of a cubin.
std::string listing_of(const std::string& cubin, const std::string& nvdisasm);

}  // namespace twinloom::cuda
