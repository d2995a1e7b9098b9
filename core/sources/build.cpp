// The build file and the README of an exported folder.
#include "core/sources/interface.h"

namespace twinloom::sources {

namespace {

std::string cmake_lists(const Project& project) {
  Writer writer;
  const std::string& name = project.name;
  writer.line("# ", name, "(): see README.md.");
  writer.line("cmake_minimum_required(VERSION 3.16)");
  writer.line("project(", name, " CXX)");
  writer.line("if(NOT CMAKE_BUILD_TYPE)");
  writer.line("  set(CMAKE_BUILD_TYPE Release)");
  writer.line("endif()");
  writer.line("# Without OpenMP each kernel runs on one thread.");
  writer.line("# Headers alone: packages of xsimd 8.1 ask whoever links to them for a library that is none.");
  writer.line("find_path(XSIMD_FOLDER xsimd/xsimd.hpp REQUIRED)");
  writer.line("find_package(OpenMP COMPONENTS CXX)");
  writer.line();
  writer.line("add_library(", name, " ", name, ".cpp");
  for (const Kernel& kernel : project.kernels) writer.line("  kernels/", kernel.function, ".cpp");
  writer.line(")");
  writer.line("target_compile_features(", name, " PUBLIC cxx_std_20)");
  writer.line("target_include_directories(", name,
              " PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} PRIVATE include ${XSIMD_FOLDER})");
  writer.line("# Results have the bits that they have in Twinloom: nothing is contracted, integers wrap.");
  writer.line("target_compile_options(", name, " PRIVATE ",
              join(project.flags, " ", [](const std::string& flag) { return flag; }), ")");
  writer.line("# Vectors wider than a register are passed only to functions that are inlined.");
  writer.line("target_compile_options(", name, " PRIVATE -Wno-psabi)");
  writer.line("target_compile_definitions(", name,
              " PRIVATE CONSTANTS=\"${CMAKE_CURRENT_SOURCE_DIR}/constants\")");
  writer.line("if(OpenMP_CXX_FOUND)");
  writer.line("  target_link_libraries(", name, " PRIVATE OpenMP::OpenMP_CXX)");
  writer.line("endif()");
  writer.line();
  writer.line("enable_testing()");
  writer.line("add_executable(", name, "_test test.cpp)");
  writer.line("target_include_directories(", name, "_test PRIVATE include)");
  writer.line("target_compile_definitions(", name,
              "_test PRIVATE SAMPLES=\"${CMAKE_CURRENT_SOURCE_DIR}/samples\")");
  writer.line("target_link_libraries(", name, "_test PRIVATE ", name, ")");
  writer.line("add_test(NAME ", name, " COMMAND ", name, "_test)");
  return writer.take();
}

std::string readme(const Project& project) {
  const std::string& name = project.name;
  return cat(
      "# ", name, "\n\nA graph of tensor operations as C++, written by Twinloom for ", project.target,
      ", mode ", project.mode,
      ".\n\n    cmake -B build && cmake --build build && ctest --test-dir build\n\n`", name,
      ".h` declares the function and says what it takes; `", name,
      ".cpp` checks sizes, lays out memory\nand calls the kernels in order; `kernels/` has a file a kernel, "
      "with "
      "the loops that it walks as a comment;\n`include/` what they include. `test.cpp` runs the function on "
      "`samples/` and compares every bit.\n\nNeeded are C++20 by g++ (12 or later) or clang++, and xsimd, "
      "from which "
      "g++'s kernels have their registers;\nwith OpenMP kernels run on several threads.\n");
}

}  // namespace

std::vector<File> build_files(const Project& project) {
  return {{"CMakeLists.txt", cmake_lists(project)}, {"README.md", readme(project)}};
}

}  // namespace twinloom::sources
