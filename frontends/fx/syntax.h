// The text PyTorch prints for an FX graph, as a tree: what the lines say, not yet what they mean.
//
//   module     := "class" NAME "(" ... ")" ":" "def forward(self" {"," parameter} ")" ":" {statement} return
//   parameter  := NAME [":" annotation]
//   statement  := NAME [":" annotation] "=" expression {";" NAME "=" ... "None"}
//   return     := "return" expression
//   expression := Python literals, names, dotted names, calls, subscripts, lists, tuples, arithmetic
//   annotation := a quoted or bare type such as f32[96, s27] or Sym(s27)
//
// Comments of the form `# File: PATH:LINE in FUNCTION, code: ...` give the following statements their
// origin; all others are skipped. Log prefixes before each line ("V1121 09:30:00.1 12 file.py:7] [0/0]")
// and terminal colours are taken off. A file may hold several modules.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/match.h"

namespace twinloom::fx {

struct Expression;
using Child = std::shared_ptr<const Expression>;

struct None {};
struct Boolean {
  bool value;
};
struct Integer {
  std::int64_t value;
};
struct Real {
  double value;
};
struct Text {
  std::string value;
};
struct Name {  // dotted: x, torch.float32, self._tensor_constant0
  std::string name;
};
struct List {  // also tuples
  std::vector<Child> items;
  bool tuple;
};
struct Keyword {
  std::string name;
  Child value;
};
struct Call {
  std::string target;  // dotted
  std::vector<Child> arguments;
  std::vector<Keyword> keywords;
};
struct Subscript {
  Child base, index;
};
struct Slice {              // inside a subscript
  Child start, stop, step;  // null where left out
};
struct Operation {  // op: + - * / // % ** & | ^ << >>, comparisons and, of one operand, neg and ~
  std::string op;
  std::vector<Child> operands;
};
struct Expression {
  std::variant<None, Boolean, Integer, Real, Text, Name, List, Call, Subscript, Slice, Operation> node;
};

struct Place {
  int line = 0;      // in the text that was read, from 1
  std::string file;  // of the user's program, from a `# File:` comment
  int file_line = 0;
};
struct Parameter {
  std::string name;
  std::string annotation;  // without quotes; may be empty
  Place place;
};
struct Statement {
  std::string name;
  std::string annotation;
  Child value;
  Place place;
};
struct Module {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Statement> statements;
  Child result;
  Place result_place;
};

// Error "FX graph line L: ..." where the text is not of the form above.
std::vector<Module> parse_modules(std::string_view text);

// As Python would print it; long lists are cut. For messages.
std::string print(const Expression& expression);

}  // namespace twinloom::fx
