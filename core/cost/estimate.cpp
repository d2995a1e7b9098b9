// See estimate.h.
#include "core/cost/estimate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/cost/constants.h"
#include "core/cost/footprint.h"
#include "core/cost/roofs.h"
#include "core/loops/epilogue.h"

namespace twinloom::cost {

namespace {

// The longest, and what of the others does not hide behind it: the root of the sum of powers.
double together(const std::vector<Roof>& roofs, double sharpness) {
  double longest = 0, sum = 0;
  for (const Roof& roof : roofs) longest = std::max(longest, roof.seconds);
  if (longest == 0) return 0;
  for (const Roof& roof : roofs) sum += std::pow(roof.seconds / longest, sharpness);
  return longest * std::pow(sum, 1 / sharpness);
}

// The nearest level that holds so many bytes of all workers.
const machine::MemoryLevel& level_with(const machine::Machine& machine, double bytes, double workers) {
  const auto holds = [&](const machine::MemoryLevel& level) {
    return bytes <= static_cast<double>(level.bytes) * workers;
  };
  const auto found = std::ranges::find_if(machine.memory, holds);
  return found == machine.memory.end() ? machine.memory.back() : *found;
}

// Two operations a product. A library divides them among all workers, and moves each element once, from where
// all of its operands are together.
Estimate estimate_of_library(const loops::Program& nest, const machine::Machine& machine,
                             const index::Values& sizes) {
  const auto call = loops::contraction_call_of(nest);
  CHECK(call, "a library is to compute what is no contraction");
  double operations = 2, bytes = 0;
  for (const auto* axes : {&call->contraction.kept, &call->contraction.summed})
    for (const loops::Contraction::Axis& axis : *axes)
      operations *= static_cast<double>(index::evaluate(axis.extent, sizes));
  for (const loops::BufferInfo& buffer : nest.buffers)
    bytes += static_cast<double>(index::evaluate(buffer.count, sizes)) * ops::size_of(buffer.dtype);
  const auto workers = static_cast<double>(std::max(machine.blocks_at_once, 1));
  const machine::MemoryLevel& level = level_with(machine, bytes, workers);
  const double bandwidth = level.bytes_per_second * (level.workers > 0 ? level.workers : workers);
  Estimate result;
  const ops::DType factors = nest.buffers[call->contraction.left.index].dtype;
  const double rate = machine.library_rate * workers *
                      (call->contraction.sums == ops::DType::i32 ? constants::INTEGER_PRODUCTS
                       : ops::bits_of(factors) == 16             ? machine.narrow_products
                                                                 : 1);
  result.roofs = {{"instructions", operations, operations / rate}, {level.name, bytes, bytes / bandwidth}};
  const double start = machine.launch_seconds + (workers > 1 ? machine.wake_seconds : 0);
  result.seconds = together(result.roofs, constants::SHARPNESS_OF_VECTORS) + start;
  result.roofs.push_back({"launch", 1, start});
  return result;
}

// Of a GPU's program that is started while the one before it ends.
void hide_start(Estimate& estimate) {
  for (Roof& roof : estimate.roofs) {
    if (roof.name != "launch") continue;
    estimate.seconds -= (1 - constants::NEXT_START) * roof.seconds;
    roof.seconds *= constants::NEXT_START;
  }
}

}  // namespace

const Roof& Estimate::limiter() const {
  CHECK(!roofs.empty(), "an estimate without roofs");
  return *std::ranges::max_element(roofs, {}, &Roof::seconds);
}

Estimate estimate(const loops::Program& program, const machine::Machine& machine,
                  const index::Values& sizes) {
  if (program.library) return estimate_of_library(program, machine, sizes);
  const Walk walk = walk_of(program, machine, sizes);
  Estimate result;
  result.roofs = machine.max_threads > 1 ? roofs_of_blocks(walk, machine) : roofs_of_vectors(walk, machine);
  const bool wakes = machine.max_threads == 1 && workers_of(walk, machine) > 1;
  const double sharpness = machine.max_threads > 1 ? constants::SHARPNESS : constants::SHARPNESS_OF_VECTORS;
  const double start = machine.launch_seconds + (wakes ? machine.wake_seconds : 0);
  result.seconds = together(result.roofs, sharpness) + start;
  result.roofs.push_back({"launch", 1, start});
  result.text = machine.max_threads > 1 ? written_for_blocks(walk) : written_for_vectors(walk, machine);
  const bool fits_machine = machine.max_threads == 1 || fits(walk, machine);
  if (!fits_machine || result.text > static_cast<double>(MOST_TEXT))
    result.seconds = std::numeric_limits<double>::infinity();
  if (machine.max_threads > 1) {
    result.registers = registers_of(walk, machine);
    result.blocks_each = blocks_each(walk, machine);
  }
  return result;
}

// Bytes alone, not lines: neighbours may be brought together.
double least_bytes(const loops::Program& nest, const machine::Machine& machine, const index::Values& sizes) {
  return touched_by(walk_of(nest, machine, sizes), 1);
}

double least_seconds(const loops::Program& nest, const machine::Machine& machine,
                     const index::Values& sizes) {
  if (machine.memory.empty()) return machine.launch_seconds;
  const double bandwidth = machine.memory.back().bytes_per_second * std::max(machine.blocks_at_once, 1);
  return least_bytes(nest, machine, sizes) / bandwidth + machine.launch_seconds;
}

double clearly_less(const machine::Machine& machine) { return machine.max_threads > 1 ? 0.8 : 0.6; }

Estimate estimate(std::span<const loops::Program> programs, const machine::Machine& machine,
                  const index::Values& sizes) {
  Estimate whole;
  for (const loops::Program& program : programs) {
    Estimate one = estimate(program, machine, sizes);
    if (machine.max_threads > 1 && &program != programs.data()) hide_start(one);
    whole.seconds += one.seconds;
    whole.text = std::max(whole.text, one.text);
    whole.registers = std::max(whole.registers, one.registers);
    whole.blocks_each = std::max(whole.blocks_each, one.blocks_each);
    for (const Roof& roof : one.roofs) {
      const auto known = std::ranges::find(whole.roofs, roof.name, &Roof::name);
      if (known == whole.roofs.end()) {
        whole.roofs.push_back(roof);
      } else {
        known->amount += roof.amount;
        known->seconds += roof.seconds;
      }
    }
  }
  return whole;
}

}  // namespace twinloom::cost
