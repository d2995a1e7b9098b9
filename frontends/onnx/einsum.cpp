// Einsum: each operand gets an axis for every letter, in one order; their product is summed over the letters
// that the result has not.
#include "frontends/onnx/einsum.h"

#include <algorithm>
#include <map>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;

// The letters of a term; axes of an ellipsis are the digits '0', '1', ..., matched from the end.
std::string letters_of(const Call& call, const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) {
    const std::size_t named = term.size() - 3;
    const std::size_t hidden = rank >= named ? rank - named : 0;
    if (hidden > 10) call.unsupported("an ellipsis of ", hidden, " axes");
    std::string digits;
    for (std::size_t k = hidden; k-- > 0;) digits += static_cast<char>('0' + k);
    letters = term.substr(0, dots) + digits + term.substr(dots + 3);
  }
  const bool is_good =
      std::ranges::all_of(letters, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  if (!is_good || letters.size() != rank)
    call.fail("the term '", escaped(term), "' does not fit a tensor of ", rank, " axes");
  return letters;
}

struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};
Equation parsed(const Call& call) {
  std::string text = call.text("equation", "");
  std::erase(text, ' ');
  Equation equation;
  const std::size_t arrow = text.find("->");
  if (arrow != std::string::npos) equation.result = text.substr(arrow + 2);
  std::string left = text.substr(0, arrow);
  for (std::size_t comma = left.find(','); comma != std::string::npos; comma = left.find(',')) {
    equation.terms.push_back(left.substr(0, comma));
    left = left.substr(comma + 1);
  }
  equation.terms.push_back(left);
  if (equation.terms.size() != call.count())
    call.fail("the equation '", escaped(text), "' has ", equation.terms.size(), " terms for ", call.count(),
              " inputs");
  return equation;
}

// A letter that stands twice in a term is a diagonal.
Tensor without_repeats(Tensor x, std::string& letters) {
  for (std::size_t a = 0; a < letters.size(); ++a) {
    const std::size_t b = letters.find(letters[a], a + 1);
    if (b == std::string::npos) continue;
    const char letter = letters[a];
    x = graph::diagonal(x, 0, static_cast<int>(a), static_cast<int>(b));
    letters.erase(b, 1);
    letters.erase(a, 1);
    letters += letter;
    a = static_cast<std::size_t>(-1);
  }
  return x;
}

// What numpy writes where the equation has no arrow: the ellipsis, then letters that stand once, sorted.
std::string implicit_result(const std::vector<std::string>& terms) {
  std::map<char, int> times;
  std::string hidden;
  for (const std::string& term : terms) {
    std::string digits;
    for (const char letter : term)
      std::isdigit(static_cast<unsigned char>(letter)) != 0 ? digits += letter : (++times[letter], digits);
    if (digits.size() > hidden.size()) hidden = digits;
  }
  for (const auto& [letter, count] : times)
    if (count == 1) hidden += letter;
  return hidden;
}

}  // namespace

Values einsum(const Call& call) {
  const Values inputs = call.tensors();
  const auto [terms, result] = parsed(call);
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    letters.push_back(letters_of(call, terms[i], static_cast<std::size_t>(inputs[i].rank())));
  std::string order = implicit_result(letters);
  if (result) {
    const std::size_t hidden = static_cast<std::size_t>(std::ranges::count_if(
        order, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }));
    const std::size_t rank =
        result->find("...") == std::string::npos ? result->size() : result->size() - 3 + hidden;
    order = letters_of(call, *result, rank);
  }
  const std::size_t kept = order.size();
  for (const std::string& term : letters)
    for (const char letter : term)
      if (order.find(letter) == std::string::npos) order += letter;
  std::optional<Tensor> product;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor x = without_repeats(graph::widened(inputs[i]), letters[i]);
    Axes axes;
    Shape shape;
    for (const char letter : order) {
      const std::size_t at = letters[i].find(letter);
      if (at != std::string::npos) axes.push_back(static_cast<int>(at));
      shape.push_back(at == std::string::npos ? index::Expr(1) : x.size(static_cast<int>(at)));
    }
    x = graph::reshape(graph::permute(x, axes), shape);
    product = product ? *product * x : x;
  }
  if (std::cmp_not_equal(order.size(), product->rank()) || kept > order.size())
    call.fail("the result has a letter that no term has");
  Axes summed;
  for (std::size_t axis = kept; axis < order.size(); ++axis) summed.push_back(static_cast<int>(axis));
  return {graph::cast(summed.empty() ? *product : graph::sum(*product, summed), inputs[0].dtype(), true)};
}

}  // namespace twinloom::onnx
