// What is known of a value before a run, in the memory that a twinloom_port points to.
#pragma once

#include <string>
#include <vector>

#include "api/include/twinloom/twinloom.h"
#include "core/graph/graph.h"

namespace twinloom::c {

class Port {
 public:
  // Of a size or of None.
  Port(std::string name, twinloom_kind kind) : name_(std::move(name)), kind_(kind) {}
  // Of a tensor. Error where DLPack has no form of its type.
  Port(std::string name, ops::DType dtype, const graph::Shape& shape);
  // Into the members that the caller's version of the struct has. Error where it does not say its size.
  void write(twinloom_port* out) const;

 private:
  std::string name_;
  std::int32_t kind_;
  DLDataType dtype_{};
  std::vector<std::int64_t> shape_;
  // Where they are made they stay, also when the port is moved.
  std::vector<std::string> symbols_;
  std::vector<const char*> symbol_texts_;
};

}  // namespace twinloom::c
