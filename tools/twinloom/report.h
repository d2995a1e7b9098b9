// What several commands print: outputs, numbers of bytes.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "api/twinloom.h"
#include "tools/twinloom/compare.h"
#include "tools/twinloom/model.h"

namespace twinloom::tool {

// One line an output: name, type, sizes, first elements.
void print_outputs(std::ostream& stream, const graph::Graph& graph, const std::vector<Output>& outputs);

// One line an output: the largest errors and where. True where every output is within its tolerance, of
// which there is one for each. Error where an expected array is missing.
bool print_comparison(std::ostream& stream, const graph::Graph& graph, const std::vector<Output>& outputs,
                      const std::map<std::string, Model::Given>& expected,
                      const std::vector<Tolerance>& tolerances);

// The line of one tensor; true where it is within the tolerance.
bool print_difference(std::ostream& stream, const std::string& name, const Tensor& given,
                      const Tensor& expected, const Tolerance& tolerance);

// The same of any output; nothing is expected where it must be None.
bool print_output(std::ostream& stream, const std::string& name, const Output& given,
                  const std::optional<Tensor>& expected, const Tolerance& tolerance);

// "f32[3, 4]"
std::string type_words(const Tensor& tensor);

}  // namespace twinloom::tool
