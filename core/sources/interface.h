// What the exported function takes: names and C++ types, for its header, its body and its test.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/sources/sources.h"

namespace twinloom::sources {

struct Argument {
  std::string type, name;
  std::string words;    // what it is, for the header
  bool result = false;  // written
};

struct Interface {
  std::vector<Argument> arguments;             // all but the workspace, in order
  std::vector<std::string> values;             // by value: the argument that it lies in; empty: none
  std::map<index::Symbol, std::string> names;  // of the arguments that are sizes, strides and random numbers
  std::vector<index::Symbol> symbols;          // the same in the order of the arguments
};

Interface interface_of(const Project& project);

// "const float* x, std::int64_t n"
std::string parameter_list(const Interface& interface);
// The same without pointers: what sizes depend on. And as arguments: "n, m".
std::string size_parameters(const Interface& interface);
std::string size_arguments(const Interface& interface);

// An expression of the graph's symbols as C++ over the arguments.
std::string expression(const index::Expr& expr, const Interface& interface);

// A text as a literal of C++.
std::string literal(std::string_view text);

// What test.cpp exits with where nothing can run the kernels.
constexpr int NOTHING_TO_RUN_ON = 77;

// The C type that holds an element. Error where there is none.
std::string c_type(ops::DType dtype);

}  // namespace twinloom::sources
