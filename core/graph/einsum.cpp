// Einsum: each operand gets an axis for every letter, in one order; their product is summed over the letters
// that the result has not.
#include "core/graph/einsum.h"

#include <algorithm>
#include <map>

#include "core/graph/build_error.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// The letters of a term; axes of an ellipsis are the digits '0', '1', ..., matched from the end.
std::string letters_of(Builder& builder, const std::string& term, std::size_t rank) {
  const std::size_t dots = term.find("...");
  std::string letters = term;
  if (dots != std::string::npos) {
    const std::size_t named = term.size() - 3;
    const std::size_t hidden = rank >= named ? rank - named : 0;
    if (hidden > 10) fail(builder, "einsum", "an ellipsis of ", hidden, " axes is not supported");
    std::string digits;
    for (std::size_t k = hidden; k-- > 0;) digits += static_cast<char>('0' + k);
    letters = term.substr(0, dots) + digits + term.substr(dots + 3);
  }
  const bool is_good =
      std::ranges::all_of(letters, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  if (!is_good || letters.size() != rank)
    fail(builder, "einsum", "the term '", escaped(term), "' does not fit a tensor of ", rank, " axes");
  return letters;
}

struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};
Equation parsed(Builder& builder, std::string text, std::size_t operands) {
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
  if (equation.terms.size() != operands || operands == 0)
    fail(builder, "einsum", "the equation '", escaped(text), "' has ", equation.terms.size(), " terms for ",
         operands, " tensors");
  return equation;
}

// A letter that stands twice in a term is a diagonal.
Tensor without_repeats(Tensor x, std::string& letters) {
  for (std::size_t a = 0; a < letters.size(); ++a) {
    const std::size_t b = letters.find(letters[a], a + 1);
    if (b == std::string::npos) continue;
    const char letter = letters[a];
    x = diagonal(x, 0, static_cast<int>(a), static_cast<int>(b));
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

// The letters of the result, and behind them those that are summed over.
struct Order {
  std::string letters;
  std::size_t kept;
};
Order order_of(Builder& builder, const Equation& equation, const std::vector<std::string>& letters) {
  std::string order = implicit_result(letters);
  if (equation.result) {
    const std::size_t hidden = static_cast<std::size_t>(std::ranges::count_if(
        order, [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }));
    const std::string& result = *equation.result;
    const std::size_t rank =
        result.find("...") == std::string::npos ? result.size() : result.size() - 3 + hidden;
    order = letters_of(builder, result, rank);
  }
  const std::size_t kept = order.size();
  for (const std::string& term : letters)
    for (const char letter : term)
      if (order.find(letter) == std::string::npos) order += letter;
  return {std::move(order), kept};
}

// With an axis for each letter of the order, of size 1 for those that the term has not.
Tensor in_order(Tensor x, std::string term, const std::string& order) {
  x = without_repeats(x, term);
  Axes axes;
  Shape shape;
  for (const char letter : order) {
    const std::size_t at = term.find(letter);
    if (at != std::string::npos) axes.push_back(static_cast<int>(at));
    shape.push_back(at == std::string::npos ? index::Expr(1) : x.size(static_cast<int>(at)));
  }
  return reshape(permute(x, axes), shape);
}

}  // namespace

Tensor einsum(Builder& builder, const std::string& text, const std::vector<Tensor>& operands) {
  const Equation equation = parsed(builder, text, operands.size());
  std::vector<std::string> letters;
  for (std::size_t i = 0; i < operands.size(); ++i)
    letters.push_back(letters_of(builder, equation.terms[i], static_cast<std::size_t>(operands[i].rank())));
  const auto [order, kept] = order_of(builder, equation, letters);
  for (std::size_t at = 0; at < kept; ++at) {
    const bool is_known = std::ranges::any_of(
        letters, [&](const std::string& term) { return term.find(order[at]) != std::string::npos; });
    if (!is_known || order.find(order[at], at + 1) != std::string::npos)
      fail(builder, "einsum", "the result has a letter twice, or one that no term has");
  }
  std::optional<Tensor> product;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const Tensor x = in_order(widened(operands[i]), letters[i], order);
    product = product ? *product * x : x;
  }
  Axes summed;
  for (std::size_t axis = kept; axis < order.size(); ++axis) summed.push_back(static_cast<int>(axis));
  return cast(summed.empty() ? *product : sum(*product, summed), operands[0].dtype(), true);
}

}  // namespace twinloom::graph
