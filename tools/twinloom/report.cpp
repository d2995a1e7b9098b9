// See report.h.
#include "tools/twinloom/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/ops/convert.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tool {

namespace {

constexpr std::int64_t shown = 6;  // elements of an output

std::string first_elements(const Tensor& given) {
  const Tensor tensor = contiguous(given);
  const std::int64_t count = std::min(shown, runtime::element_count(tensor));
  std::vector<double> numbers(static_cast<std::size_t>(count));
  ops::convert(tensor.dtype, DType::f64, tensor.data, numbers.data(), count);
  const std::string words = join(numbers, " ", [](double number) { return fmt::format("{:.6g}", number); });
  return runtime::element_count(tensor) > count ? words + " ..." : words;
}

std::string position_words(const Tensor& tensor, std::int64_t element) {
  std::vector<std::int64_t> position(tensor.sizes.size());
  for (std::size_t axis = position.size(); axis-- > 0;) {
    position[axis] = element % tensor.sizes[axis];
    element /= tensor.sizes[axis];
  }
  return cat("[", join(position, ", ", [](std::int64_t at) { return cat(at); }), "]");
}

// The array for output r: by its name, else outR.
const Model::Given* find_expected(const graph::Graph& graph, std::size_t r,
                                  const std::map<std::string, Model::Given>& expected) {
  for (const std::string& name : {output_name(graph, r), cat("out", r)}) {
    const auto found = expected.find(name);
    if (found != expected.end() && (found->second.none || found->second.tensor)) return &found->second;
  }
  return nullptr;
}

// A truth of sizes is a size that is 0 or 1.
Tensor tensor_of_size(std::int64_t size, DType expected) {
  if (expected == DType::b8 && (size == 0 || size == 1)) {
    Tensor truth = allocate(DType::b8, {});
    *static_cast<std::uint8_t*>(truth.data) = static_cast<std::uint8_t>(size);
    return truth;
  }
  Tensor tensor = allocate(DType::i64, {});
  *static_cast<std::int64_t*>(tensor.data) = size;
  return tensor;
}

}  // namespace

std::string type_words(const Tensor& tensor) {
  return cat(ops::name(tensor.dtype), "[",
             join(tensor.sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
}

void print_outputs(std::ostream& stream, const graph::Graph& graph, const std::vector<Output>& outputs) {
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    stream << output_name(graph, r) << ": ";
    if (const auto* tensor = std::get_if<Tensor>(&outputs[r]))
      stream << type_words(*tensor) << "  " << first_elements(*tensor) << '\n';
    else if (const auto* size = std::get_if<std::int64_t>(&outputs[r]))
      stream << *size << '\n';
    else
      stream << "None\n";
  }
}

bool print_difference(std::ostream& stream, const std::string& name, const Tensor& given,
                      const Tensor& expected, const Tolerance& tolerance) {
  const Difference difference = compare(given, expected, tolerance);
  if (!difference.same_shape) {
    stream << name << ": DIFFERENT is " << type_words(given) << ", expected " << type_words(expected) << '\n';
    return false;
  }
  stream << name << ": " << (difference.different == 0 ? "ok" : "DIFFERENT") << ' ' << type_words(given);
  if (difference.where < 0) {
    stream << "  equal\n";
    return true;
  }
  stream << fmt::format("  largest error {:.3g} absolute, {:.3g} relative, {:.3g} ulp",
                        difference.largest_absolute, difference.largest_relative, difference.largest_ulp)
         << "; at " << position_words(given, difference.where) << " is " << difference.given << ", expected "
         << difference.expected;
  if (difference.different != 0) stream << "; " << difference.different << " elements outside the tolerance";
  stream << '\n';
  return difference.different == 0;
}

bool print_output(std::ostream& stream, const std::string& name, const Output& given,
                  const std::optional<Tensor>& expected, const Tolerance& tolerance) {
  const auto* size = std::get_if<std::int64_t>(&given);
  const auto* tensor = std::get_if<Tensor>(&given);
  const bool is_none = size == nullptr && tensor == nullptr;
  if (!is_none && expected)
    return print_difference(stream, name, size != nullptr ? tensor_of_size(*size, expected->dtype) : *tensor,
                            *expected, tolerance);
  stream << name << ": ";
  if (is_none && !expected)
    stream << "ok None\n";
  else if (is_none)
    stream << "DIFFERENT is None, expected " << type_words(*expected) << '\n';
  else
    stream << "DIFFERENT is " << (size != nullptr ? "a size" : type_words(*tensor)) << ", expected None\n";
  return is_none && !expected;
}

bool print_comparison(std::ostream& stream, const graph::Graph& graph, const std::vector<Output>& outputs,
                      const std::map<std::string, Model::Given>& expected,
                      const std::vector<Tolerance>& tolerances) {
  bool good = true;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const std::string name = output_name(graph, r);
    const Model::Given* wanted = find_expected(graph, r, expected);
    const bool is_returned = graph.results()[r].kind != graph::Ownership::written;
    if (wanted == nullptr && !is_returned) continue;
    if (wanted == nullptr) throw Error(cat("the expected arrays have no '", name, "'"));
    good = print_output(stream, name, outputs[r], wanted->tensor, tolerances[r]) && good;
  }
  return good;
}

}  // namespace twinloom::tool
