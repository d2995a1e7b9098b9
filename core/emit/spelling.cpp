// See spelling.h.
#include "core/emit/spelling.h"

#include <algorithm>

namespace twinloom::emit {

namespace {

bool is_register_float(ops::DType element) {
  return element == ops::DType::f32 || element == ops::DType::f64;
}

}  // namespace

std::string_view spelling(ops::Pointwise op, ops::DType element) {
  if (is_register_float(element)) {
    if (op == ops::Pointwise::add) return "$0 + $1";
    if (op == ops::Pointwise::sub) return "$0 - $1";
    if (op == ops::Pointwise::mul) return "$0 * $1";
  }
  return ops::spelling(op);
}

std::string_view spelling(ops::Monoid monoid, ops::DType element) {
  if (is_register_float(element)) {
    if (monoid == ops::Monoid::sum) return spelling(ops::Pointwise::add, element);
    if (monoid == ops::Monoid::prod) return spelling(ops::Pointwise::mul, element);
  }
  return ops::spelling(monoid);
}

std::string counted(std::string_view counter, std::string_view bound) {
  return cat("for (i64 ", counter, " = 0; ", counter, " < ", bound, "; ++", counter, ") {");
}

void comment_lines(Writer& writer, std::string_view comment) {
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    const std::string text = escaped(comment.substr(0, end));
    writer.line("// ", text, text.ends_with('\\') ? "." : "");  // a last backslash would join the next line
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
}

}  // namespace twinloom::emit
