// A contraction of known sizes as a call of oneDNN.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backends/cpu/library_execution.h"
#include "backends/cpu/onednn.h"
#include "core/loops/library_nest.h"

namespace twinloom::cpu {

// Which of the library's implementations serve: those that are fast, or its reference, a loop over elements,
// too.
enum class Serves : std::uint8_t { fast, any };

// The contents of factors that never change, null of others: as a primitive likes them best, they are made
// once.
struct ConstantFactors {
  std::shared_ptr<const void> left = nullptr, right = nullptr;
};

// Of so many threads of OpenMP, as the maker's caller has set them.
class LibraryCall {
 public:
  // Null where oneDNN has nothing that serves. `in_results`: the operand of the epilogue that lies where the
  // results go (operand_in_results).
  static std::unique_ptr<const LibraryCall> make(const loops::ContractionCall& call,
                                                 const loops::ContractionTypes& types,
                                                 const ConstantFactors& constants = {},
                                                 std::optional<std::size_t> in_results = {},
                                                 Serves serves = Serves::fast);

  struct Operands {
    void *out, *left, *right;          // element 0 of each
    std::vector<void*> epilogue = {};  // and of the epilogue's
    std::int32_t left_zero = 0, right_zero = 0;  // zero points
  };
  // Thread-safe.
  void run(const Operands& operands) const;

 private:
  // One operand: as the caller has it, a copy in another order, and that as the primitive sees it.
  struct Operand {
    int number = 0;
    std::int64_t begin = 0;             // bytes from element 0
    onednn::Owned given, copied, used;  // descriptions
    onednn::Primitive reorder =
        {};  // from the first to the second, or back of a result; no handle: there is no copy
    std::size_t copied_bytes = 0;
    std::shared_ptr<const void> content = nullptr;  // of a constant
    bool has_zero = false;  // a zero point
  };
  // One that a step of the epilogue reads.
  struct Beside {
    int number;           // of the argument
    std::size_t operand;  // of the contraction's
    std::int64_t begin;   // elements
    onednn::Owned description;
  };
  // A copy of an operand in its order; of a constant the one that the first run made.
  std::shared_ptr<std::byte> copy_of(std::size_t which, void* address) const;
  // Its arguments: the operands in order, their zero points, what the epilogue reads.
  std::unique_ptr<Execution> new_execution() const;
  struct Wishes;
  class Maker;

  onednn::Primitive primitive_;
  bool turned_ = false;              // the library's left operand is our right one
  std::array<Operand, 3> operands_;  // out, left, right
  std::vector<Beside> beside_;
  onednn::Owned zero_;  // the description of a zero point
  mutable std::array<std::once_flag, 3> once_;
  mutable std::array<std::shared_ptr<std::byte>, 3> kept_;  // copies of constants
  mutable Executions executions_;
};

}  // namespace twinloom::cpu
