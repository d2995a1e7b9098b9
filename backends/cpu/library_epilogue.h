// What is done to the results of a library's call (core/loops/epilogue.h): by the call itself, or afterwards.
//
// A library's maximum and minimum drop a NaN, which the nest keeps. Those of a processor raise the flag of an
// invalid operation then, as they do where infinities cancel: a call whose threads have that flag at its end
// is made again without its epilogue, which is then computed here.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "backends/cpu/onednn.h"
#include "core/loops/epilogue.h"

namespace twinloom::cpu {

// Adds these steps, whose operands are described so, to the attributes of a primitive. One operand may be
// what lies where the results go.
void add_steps(onednn::Handle attributes, std::span<const loops::EpilogueStep> steps,
               std::span<const onednn::Owned> operands, std::optional<std::size_t> in_results);

// The operand that a call may find where its results go: what is added to each, element by element, and read
// for nothing else.
std::optional<std::size_t> operand_in_results(const loops::ContractionCall& call);

// Whether one of the steps takes a maximum or minimum; what a hard swish multiplies by stays a NaN's factor.
bool may_drop_nan(std::span<const loops::EpilogueStep> steps);

// Clears the flags of so many threads of OpenMP, those that a call has too; whether one of them has that of
// an invalid operation, which is then cleared.
void clear_invalid(int threads);
bool take_invalid(int threads);

// The steps on sums that lie as the contraction's results do, which may be their memory if they are f32. All
// addresses are those of the first element that is used. In parallel on so many threads.
void apply_epilogue(const loops::ContractionCall& call, const float* sums, void* out, ops::DType dtype,
                    std::span<const float* const> operands, int threads);

// How many elements of memory the results span, from the first to the last.
std::int64_t span_of_results(const loops::Contraction& of);

}  // namespace twinloom::cpu
