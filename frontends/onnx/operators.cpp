// See operators.h.
#include "frontends/onnx/operators.h"

#include <algorithm>
#include <array>
#include <map>

namespace twinloom::onnx {

namespace {

const std::map<std::string_view, const Row*>& all_rows() {
  static const auto rows = [] {
    std::map<std::string_view, const Row*> result;
    const std::array families = {pointwise_rows(), activation_rows(),   reduction_rows(), view_rows(),
                                 indexing_rows(),  creation_rows(),     norm_rows(),      pooling_rows(),
                                 product_rows(),   quantisation_rows(), loss_rows(),      resize_rows(),
                                 sampling_rows(),  recurrent_rows(),    signal_rows(),    data_rows(),
                                 control_rows(),   sequence_rows(),     attention_rows(), state_rows(),
                                 bit_cast_rows(),  ml_rows(),           random_rows(),    quantised_rows()};
    for (const std::span<const Row> family : families)
      for (const Row& row : family) CHECK(result.emplace(row.name, &row).second, "two rows ", row.name);
    return result;
  }();
  return rows;
}

struct Domain {
  std::string_view name;
  std::int64_t newest;
};
constexpr std::array domains = {
    Domain{"", 28},
    Domain{"ai.onnx.ml", 5},
    Domain{"ai.onnx.preview", 1},
    Domain{"ai.onnx.preview.training", 1},
    Domain{"com.microsoft", 1},
};

struct Refusal {
  std::string_view name, words;
};
constexpr std::string_view strings = "strings";
constexpr std::array refusals = {
    Refusal{"ImageDecoder", "images in files of their own formats"},
    Refusal{"RegexFullMatch", strings},
    Refusal{"StringConcat", strings},
    Refusal{"StringNormalizer", strings},
    Refusal{"StringSplit", strings},
};

}  // namespace

std::optional<std::int64_t> newest_opset(std::string_view domain) {
  const auto* found = std::ranges::find(domains, domain, &Domain::name);
  return found == domains.end() ? std::nullopt : std::optional(found->newest);
}

std::string_view why_refused(std::string_view name) {
  const auto* found = std::ranges::find(refusals, name, &Refusal::name);
  return found == refusals.end() ? std::string_view() : found->words;
}

const Row* find_operator(std::string_view name) {
  const auto found = all_rows().find(name);
  return found == all_rows().end() ? nullptr : found->second;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const auto& [name, row] : all_rows()) names.emplace_back(name);
  return names;
}

}  // namespace twinloom::onnx
