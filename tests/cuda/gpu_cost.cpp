// See gpu_cost.h.
#include "tests/cuda/gpu_cost.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "backends/cuda/device_text.h"
#include "core/ops/cost.h"
#include "tests/cuda/compiler.h"
#include "tests/cuda/cost_kernels.h"

namespace twinloom::cuda {

namespace {

constexpr std::size_t ALU = 1;  // where truth values are made and used
static_assert(UNITS[ALU].name == "alu");

struct Row {
  CostKernel kernel;
  std::string_view name;
  int listed;
};

std::vector<Row> all_rows() {
  std::vector<Row> rows;
  for (const ops::Pointwise op : ops::all_pointwise())
    rows.push_back({kernel_of(op), ops::name(op), ops::gpu_cost(op)});
  for (const ops::Monoid monoid : ops::all_monoids())
    rows.push_back({kernel_of(monoid), ops::name(monoid), ops::gpu_cost(monoid)});
  return rows;
}

bool has_word(std::string_view words, std::string_view wanted) {
  std::istringstream list{std::string(words)};
  for (std::string word; list >> word;)
    if (word == wanted) return true;
  return false;
}

// Loads and stores are none of a function's, and not every input is used in every kernel.
UnitCounts counts_of(const std::vector<std::string_view>& opcodes) {
  UnitCounts counts{};
  for (const std::string_view opcode : opcodes) {
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    if (base == "LDG" || base == "STG") continue;
    for (std::size_t unit = 0; unit < UNITS.size(); ++unit)
      if (UNITS[unit].opcodes.empty() || has_word(UNITS[unit].opcodes, base)) ++counts[unit];
  }
  return counts;
}

UnitCounts counts_of_lane(const CostKernel& kernel, const MachineCode& code, const UnitCounts& empty) {
  UnitCounts counts = counts_of(code.fast_path(kernel.name));
  for (std::size_t unit = 0; unit < UNITS.size(); ++unit)
    counts[unit] = (counts[unit] - empty[unit]) / COST_LANES;
  for (const std::size_t unit : {std::size_t{0}, ALU}) counts[unit] -= kernel.around_truths;
  return counts;
}

}  // namespace

double GpuCost::slots() const {
  double slots = 0;
  for (std::size_t unit = 0; unit < UNITS.size(); ++unit)
    slots = std::max(slots, counts[unit] * ISSUED_LANES / UNITS[unit].lanes);
  return slots;
}
int GpuCost::counted() const { return std::max(1, static_cast<int>(std::lround(slots()))); }

std::vector<GpuCost> counted_costs(const std::string& nvdisasm) {
  const std::vector<Row> rows = all_rows();
  const CostKernel empty = empty_kernel();
  std::string text = cat("#include \"", ENTRY_HEADER, "\"\nnamespace twinloom::device {\n", empty.text);
  for (const Row& row : rows) text += row.kernel.text;
  text += "}\n";
  const std::string needed = needed_headers(text);
  const Compiled compiled = nvrtc().compile(text, "costs", {{ENTRY_HEADER, needed}}, {"sm_90a", {}});
  const MachineCode code(listing_of(compiled.bytes, nvdisasm));
  const UnitCounts of_empty = counts_of(code.fast_path(empty.name));
  std::vector<GpuCost> costs;
  for (const Row& row : rows)
    costs.push_back({std::string(row.name), row.listed, counts_of_lane(row.kernel, code, of_empty)});
  return costs;
}

}  // namespace twinloom::cuda
