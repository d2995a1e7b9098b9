// Prints what every operator and monoid takes of a CPU and of a GPU: the columns `cost` and `gpu`, the latter
// as it is counted in machine code, with the instructions of each unit.
//   gpu_costs
#include <iostream>

#include "core/ops/cost.h"
#include "tests/cuda/compiler.h"
#include "tests/cuda/gpu_cost.h"

namespace twinloom::cuda {

namespace {

int cost_of(std::string_view name) {
  if (const auto op = ops::pointwise_named(name)) return ops::cost(*op);
  return ops::cost(ops::monoid_named(name).value());
}

void print_costs(const std::string& nvdisasm) {
  std::cout << "name cost gpu counted";
  for (const Unit& unit : UNITS) std::cout << " " << unit.name;
  std::cout << "\n";
  for (const GpuCost& cost : counted_costs(nvdisasm)) {
    std::cout << cost.name << " " << cost_of(cost.name) << " " << cost.listed << " " << cost.counted();
    for (const double count : cost.counts) std::cout << " " << count;
    std::cout << "\n";
  }
}

int run() {
  const std::string nvdisasm = nvdisasm_path();
  std::string missing = nvrtc_missing();
  if (nvdisasm.empty()) missing = "nvdisasm was not found";
  if (!missing.empty()) {
    std::cerr << missing << "\n";
    return 1;
  }
  print_costs(nvdisasm);
  return 0;
}

}  // namespace

}  // namespace twinloom::cuda

int main() { return twinloom::cuda::run(); }
