// Graphs of any number of operators, for how the time of planning grows: texts as PyTorch prints them.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace twinloom::perf {

struct Family {
  std::string_view name;
  std::string (*text)(int operators);  // of about so many operators
};

//   chain        each operator reads the one before it
//   fan          one value, read by all the others
//   fan_of_rows  one value, whose rows are all summed up in other ways
//   ladder       two chains, each of which reads the other at every step
//   axes         softmaxes along one axis and the other by turns
//   layers       layer norm, softmax, gelu and residuals: transformers without their products
std::array<Family, 6> plan_families();

}  // namespace twinloom::perf
