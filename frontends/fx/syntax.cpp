// A recursive-descent parser over tokens.h. See syntax.h for the grammar.
#include "frontends/fx/syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "frontends/fx/fail.h"
#include "frontends/fx/tokens.h"

namespace twinloom::fx {

namespace {

constexpr int max_depth = 64;   // of nested brackets; printed graphs have two or three
constexpr int max_chain = 256;  // operators or subscripts one after the other

template <class Node>
Child make(Node node) {
  return std::make_shared<const Expression>(Expression{std::move(node)});
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::vector<Module> modules() {
    std::vector<Module> all;
    while (skip_to_class()) all.push_back(module());
    return all;
  }

 private:
  using Kind = Token::Kind;
  const Token& token() const { return tokens_[at_]; }
  bool at(std::string_view text) const {
    return (token().kind == Kind::symbol || token().kind == Kind::name) && token().text == text;
  }
  void next() {
    if (token().kind != Kind::end) ++at_;
  }
  bool accept(std::string_view text) {
    if (!at(text)) return false;
    next();
    return true;
  }
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string found = token().kind == Kind::end ? "the end of the text"
                              : token().kind == Kind::line_end
                                  ? "the end of the line"
                                  : cat("'", escaped(token().text.substr(0, 40)), "'");
    fx::fail(token().line, cat("expected ", expected, ", found ", found));
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail(cat("'", text, "'"));
  }
  std::string name(std::string_view what) {
    if (token().kind != Kind::name) fail(what);
    std::string text = token().text;
    next();
    return text;
  }

  // Anything may stand before the first class and between modules.
  bool skip_to_class() {
    while (token().kind != Kind::end && !(at("class") && starts_line())) next();
    return token().kind != Kind::end;
  }
  bool starts_line() const {
    return at_ == 0 || tokens_[at_ - 1].kind == Kind::line_end || tokens_[at_ - 1].kind == Kind::comment;
  }
  void skip_line_ends() {
    while (token().kind == Kind::line_end || token().kind == Kind::comment) {
      if (token().kind == Kind::comment) remember_origin(token().text);
      next();
    }
  }

  // "File: model.py:12 in forward, code: y = x + 1"
  void remember_origin(std::string_view comment) {
    const std::size_t at = comment.find("File: ");
    origin_ = {};
    if (at == std::string_view::npos) return;
    std::string_view rest = comment.substr(at + 6);
    rest = rest.substr(0, rest.find(" in "));
    rest = rest.substr(0, rest.find(", code:"));
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string_view::npos) return;
    std::from_chars(rest.data() + colon + 1, rest.data() + rest.size(), origin_.file_line);
    origin_.file = std::string(rest.substr(0, colon));
  }
  Place place() const { return {token().line, origin_.file, origin_.file_line}; }

  Module module() {
    Module result;
    expect("class");
    if (token().kind == Kind::name) {
      result.name = name("a class name");
    } else {
      expect("<");
      result.name = cat("<", name("a class name"), ">");
      expect(">");
    }
    while (!accept("def")) {
      if (token().kind == Kind::end || at("class")) fail("'def forward'");
      next();
    }
    if (name("'forward'") != "forward") fail("the body of 'forward'");
    parameters(result);
    body(result);
    return result;
  }

  void parameters(Module& module) {
    expect("(");
    if (name("'self'") != "self") fail("'self' as the first parameter");
    while (!accept(")")) {
      while (token().kind == Kind::comment) next();
      if (accept(")")) break;
      if (accept(",")) continue;
      if (!module.parameters.empty() && tokens_[at_ - 1].text != "," &&
          tokens_[at_ - 1].kind != Kind::comment)
        fail("',' or ')'");
      Parameter parameter{"", "", place()};
      parameter.name = name("the name of a parameter");
      if (accept(":")) parameter.annotation = annotation();
      module.parameters.push_back(std::move(parameter));
    }
    while (!accept(":")) {  // a return annotation
      if (token().kind == Kind::line_end || token().kind == Kind::end) fail("':'");
      next();
    }
  }

  // Quoted, or bare up to the '=', ',' or ')' that ends it.
  std::string annotation() {
    std::string text;
    if (token().kind == Kind::text) {
      text = token().text;
      next();
      return text;
    }
    int depth = 0;
    while (token().kind == Kind::name || token().kind == Kind::number || token().kind == Kind::symbol) {
      if (depth == 0 && (at("=") || at(",") || at(")"))) break;
      if (at("[") || at("(")) ++depth;
      if (at("]") || at(")")) --depth;
      text += token().text;
      next();
    }
    return text;
  }

  void body(Module& module) {
    while (true) {
      skip_line_ends();
      if (token().kind == Kind::end || at("class")) fail("'return'");
      if (at("return")) break;
      module.statements.push_back(statement());
    }
    module.result_place = place();
    next();
    module.result = token().kind == Kind::line_end ? make(None{}) : expression_list();
    end_of_statement();
  }

  Statement statement() {
    Statement statement{"", "", nullptr, place()};
    statement.name = name("the name of a value");
    if (statement.name.find('.') != std::string::npos) {
      fx::fail(statement.place.line, cat("'", statement.name, "' cannot be assigned to"));
    }
    if (accept(":")) statement.annotation = annotation();
    expect("=");
    statement.value = expression_list();
    end_of_statement();
    return statement;
  }

  // `;  x = y = None` frees names; it says nothing about values.
  void end_of_statement() {
    while (accept(";")) {
      while (token().kind == Kind::name && !at("None")) {
        next();
        if (!accept("=")) fail("'=' in a list of freed names");
      }
      if (!accept("None")) fail("'None'");
    }
    if (token().kind == Kind::comment) next();
    if (token().kind != Kind::line_end && token().kind != Kind::end) fail("the end of the statement");
  }

  Child expression_list() {
    Child first = expression(0);
    if (!at(",")) return first;
    List list{{first}, true};
    while (accept(",")) {
      if (token().kind == Kind::line_end || token().kind == Kind::end || at(";")) break;
      list.items.push_back(expression(0));
    }
    return make(std::move(list));
  }

  struct Level {
    int depth;
    explicit Level(Parser& parser, int at) : depth(at + 1) {
      if (depth > max_depth) {
        fx::fail(parser.token().line, cat("brackets are nested more than ", max_depth, " deep"));
      }
    }
  };

  Child expression(int depth) { return binary(depth, 0); }

  // Binding strength of a binary operator, from 0; -1: not one.
  static int strength(std::string_view op) {
    static constexpr std::array<std::array<std::string_view, 6>, 7> levels = {{
        {"<", "<=", ">", ">=", "==", "!="},
        {"|"},
        {"^"},
        {"&"},
        {"<<", ">>"},
        {"+", "-"},
        {"*", "/", "//", "%"},
    }};
    for (std::size_t level = 0; level < levels.size(); ++level)
      if (std::ranges::find(levels[level], op) != levels[level].end()) return static_cast<int>(level);
    return -1;
  }

  Child binary(int depth, int weakest) {
    const Level level(*this, depth);
    Child left = unary(level.depth);
    for (int links = 0; token().kind == Kind::symbol && strength(token().text) >= weakest; ++links) {
      if (links == max_chain) fail("a shorter expression");
      const std::string op = token().text;
      next();
      left = make(Operation{op, {left, binary(level.depth, strength(op) + 1)}});
    }
    return left;
  }

  Child unary(int depth) {
    const Level level(*this, depth);
    if (accept("+")) return unary(level.depth);
    if (accept("-")) {
      Child operand = unary(level.depth);
      if (const auto* integer = std::get_if<Integer>(&operand->node);
          integer != nullptr && integer->value != std::numeric_limits<std::int64_t>::min()) {
        return make(Integer{-integer->value});
      }
      if (const auto* real = std::get_if<Real>(&operand->node)) return make(Real{-real->value});
      return make(Operation{"neg", {operand}});
    }
    if (accept("~")) return make(Operation{"~", {unary(level.depth)}});
    Child base = postfix(level.depth);
    if (!accept("**")) return base;
    return make(Operation{"**", {base, unary(level.depth)}});
  }

  Child postfix(int depth) {
    Child base = primary(depth);
    for (int links = 0; accept("["); ++links) {
      if (links == max_chain) fail("a shorter expression");
      base = make(Subscript{base, subscript(depth)});
      expect("]");
    }
    return base;
  }

  Child subscript(int depth) {
    Slice slice{at(":") ? nullptr : expression_list_within(depth), nullptr, nullptr};
    if (!accept(":")) return slice.start;
    if (!at(":") && !at("]")) slice.stop = expression(depth);
    if (accept(":") && !at("]")) slice.step = expression(depth);
    return make(std::move(slice));
  }
  Child expression_list_within(int depth) {
    const Level level(*this, depth);
    return expression(level.depth);
  }

  Child primary(int depth) {
    const Level level(*this, depth);
    const Token first = token();
    if (first.kind == Kind::number) return number();
    if (first.kind == Kind::text) {
      next();
      return make(Text{first.text});
    }
    if (accept("[")) return list_until("]", false, level.depth);
    if (accept("(")) return list_until(")", true, level.depth);
    if (first.kind != Kind::name) fail("a value");
    next();
    if (at("(")) return call(first.text, level.depth);
    return named(first.text);
  }

  static Child named(const std::string& text) {
    if (text == "None") return make(None{});
    if (text == "True" || text == "False") return make(Boolean{text == "True"});
    if (text == "inf") return make(Real{std::numeric_limits<double>::infinity()});
    if (text == "nan") return make(Real{std::numeric_limits<double>::quiet_NaN()});
    return make(Name{text});
  }

  Child number() {
    const std::string text = token().text;
    const char* end = text.data() + text.size();
    std::int64_t integer = 0;
    double real = 0;
    if (const auto [stop, status] = std::from_chars(text.data(), end, integer);
        status == std::errc() && stop == end) {
      next();
      return make(Integer{integer});
    }
    const bool is_integer = text.find_first_not_of("0123456789") == std::string::npos;
    if (const auto [stop, status] = std::from_chars(text.data(), end, real);
        status == std::errc() && stop == end && !is_integer) {
      next();
      return make(Real{real});
    }
    fail("a number within 64 bits");
  }

  Child list_until(std::string_view close, bool parenthesised, int depth) {
    std::vector<Child> items;
    bool comma = false;
    while (!accept(close)) {
      items.push_back(expression(depth));
      comma = accept(",");
      if (!comma && !at(close)) fail(cat("',' or '", close, "'"));
    }
    if (parenthesised && items.size() == 1 && !comma) return items.front();
    return make(List{std::move(items), parenthesised});
  }

  Child call(const std::string& target, int depth) {
    expect("(");
    Call call{target, {}, {}};
    while (!accept(")")) {
      if (token().kind == Kind::name && tokens_[at_ + 1].kind == Kind::symbol &&
          tokens_[at_ + 1].text == "=") {
        const std::string keyword = name("a keyword");
        expect("=");
        call.keywords.push_back({keyword, expression(depth)});
      } else {
        call.arguments.push_back(expression(depth));
      }
      if (!accept(",") && !at(")")) fail("',' or ')'");
    }
    return make(std::move(call));
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Place origin_;
};

}  // namespace

std::vector<Module> parse_modules(std::string_view text) {
  std::vector<Module> modules = Parser(tokens_of(text)).modules();
  if (modules.empty()) throw Error("FX graph: there is no 'class NAME(torch.nn.Module):' in the text");
  return modules;
}

std::string print(const Expression& expression) {
  const auto spell = [](const Child& child) { return child ? print(*child) : std::string(); };
  constexpr std::size_t longest = 200;
  std::string text = match(
      expression, [](const None&) { return std::string("None"); },
      [](const Boolean& node) { return std::string(node.value ? "True" : "False"); },
      [](const Integer& node) { return cat(node.value); }, [](const Real& node) { return cat(node.value); },
      [](const Text& node) { return cat("'", escaped(node.value), "'"); },
      [](const Name& node) { return node.name; },
      [&](const List& node) {
        return cat(node.tuple ? "(" : "[", join(node.items, ", ", spell), node.tuple ? ")" : "]");
      },
      [&](const Call& node) { return cat(node.target, "(", join(node.arguments, ", ", spell), ")"); },
      [&](const Subscript& node) { return cat(spell(node.base), "[", spell(node.index), "]"); },
      [&](const Slice& node) { return cat(spell(node.start), ":", spell(node.stop)); },
      [&](const Operation& node) {
        return cat("(", join(node.operands, cat(" ", node.op, " "), spell), ")");
      });
  return text.size() > longest ? text.substr(0, longest) + "..." : text;
}

}  // namespace twinloom::fx
