// The build file and the README of an exported folder.
#include "core/base/error.h"
#include "core/sources/interface.h"

namespace twinloom::sources {

namespace {

std::vector<const loops::Program*> programs(const runtime::Variant& variant) {
  std::vector<const loops::Program*> programs;
  for (const runtime::Step& step : variant.steps) programs.push_back(&step.program);
  return programs;
}

std::string cmake_lists(const Project& project) {
  Writer writer;
  const std::string& name = project.name;
  const Target& target = project.target;
  const auto lines = [&](const std::vector<std::string>& all) {
    for (const std::string& line : all) writer.line(line);
  };
  writer.line("# ", name, "(): see README.md.");
  writer.line("cmake_minimum_required(VERSION 3.18)");
  lines(target.cmake_before());
  writer.line("project(", name, " ", target.cmake_languages(), ")");
  writer.line("if(NOT CMAKE_BUILD_TYPE)");
  writer.line("  set(CMAKE_BUILD_TYPE Release)");
  writer.line("endif()");
  lines(target.cmake_packages());
  writer.line();
  writer.line("add_library(", name, " ", name, ".cpp");
  for (const std::string& kernel : project.kernels) writer.line("  kernels/", kernel, target.suffix());
  for (const std::string& source : target.compiled_headers(programs(project.variant)))
    writer.line("  include/", source);
  writer.line(")");
  writer.line("target_compile_features(", name, " PUBLIC cxx_std_20)");
  writer.line("target_include_directories(", name, " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} PRIVATE include)");
  writer.line("target_compile_definitions(", name,
              " PRIVATE CONSTANTS=\"${CMAKE_CURRENT_SOURCE_DIR}/constants\")");
  lines(target.cmake_library(name));
  writer.line();
  writer.line("enable_testing()");
  writer.line("add_executable(", name, "_test test.cpp)");
  writer.line("target_include_directories(", name, "_test PRIVATE include)");
  writer.line("target_compile_definitions(", name,
              "_test PRIVATE SAMPLES=\"${CMAKE_CURRENT_SOURCE_DIR}/samples\")");
  writer.line("target_link_libraries(", name, "_test PRIVATE ", name, ")");
  writer.line("add_test(NAME ", name, " COMMAND ", name, "_test)");
  writer.line("set_tests_properties(", name, " PROPERTIES SKIP_RETURN_CODE ", NOTHING_TO_RUN_ON, ")");
  return writer.take();
}

std::string readme(const Project& project) {
  const std::string& name = project.name;
  return cat("# ", name, "\n\nA graph of tensor operations as ", project.target.language(),
             ", written by Twinloom for ", project.target.describe(), ", mode ", project.mode,
             ".\n\n    cmake -B build && cmake --build build && ctest --test-dir build\n\n`", name,
             ".h` declares the function and says what it takes; `", name,
             ".cpp` checks sizes, lays out memory\nand calls the kernels in order; `kernels/` has a file a "
             "kernel, with the loops that it walks as a comment;\n`include/` what they include. `test.cpp` "
             "runs the function on `samples/` and compares every bit.\n\n",
             project.target.needs(), "\n");
}

}  // namespace

std::vector<File> build_files(const Project& project) {
  return {{"CMakeLists.txt", cmake_lists(project)}, {"README.md", readme(project)}};
}

}  // namespace twinloom::sources
