// The same computations in the ways in which people write them, as FX texts: what perf/ways.cpp measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twinloom::perf {

struct Way {
  std::string_view family, name;
  // Ways of a family with the same letter round at the same places and give the same bits in `strict`.
  char roundings;
  // Of the FX text, in which R and C stand for the sizes of a matrix: parameters, statements, the result.
  std::string_view parameters, statements, result = "y";
};
const std::vector<Way>& all_ways();

struct MatrixSizes {
  long rows = 0, columns = 0;
};
std::string text_of(const Way& way, const MatrixSizes& sizes);

}  // namespace twinloom::perf
