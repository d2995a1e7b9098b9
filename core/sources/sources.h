// A compiled graph as C++ that is built without this library: a function with the graph's plan in it, a
// header, a build file and a test. The kernels' texts and what they include come from a back end (target.h).
//   std::vector<File> files = function_files(project);       // softmax.h, softmax.cpp, kernels, headers
//   std::vector<File> more = test_files(project, sample);    // test.cpp and what it reads
//   std::vector<File> rest = build_files(project);           // CMakeLists.txt, README.md
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/runtime/executable.h"
#include "core/runtime/variant.h"
#include "core/sources/file.h"
#include "core/sources/target.h"

namespace twinloom::sources {

// What is exported. All that it names outlives it.
struct Project {
  std::string name;           // of the function; letters, digits and _
  const graph::Graph& graph;  // as the user gave it
  const runtime::Variant& variant;
  const Target& target;
  std::string mode;
  std::vector<std::string> kernels;  // by step: the names of their functions in C
};

// A run of the graph: what test.cpp hands in and expects.
struct Sample {
  std::span<const runtime::Argument> arguments;
  std::span<const runtime::Output> outputs;
  index::Values symbols;  // sizes and strides
  runtime::RunOptions options;
};

// A name that C++ lets a function have, made of any text.
std::string identifier(std::string_view text);

// The functions of a variant's kernels, each another.
std::vector<std::string> kernel_functions(const std::string& name, const runtime::Variant& variant);

// Error where a result or a type has no form in C++.
std::vector<File> function_files(const Project& project);
std::vector<File> test_files(const Project& project, const Sample& sample);
std::vector<File> build_files(const Project& project);

}  // namespace twinloom::sources
