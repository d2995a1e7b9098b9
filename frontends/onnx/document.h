// Inside of the component: an ONNX model while it is written. Tensors are known by their names. What is said
// twice stands once; what no output needs is left out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/onnx/format.h"

namespace twinloom::onnx {

using Name = std::string;  // of a tensor; empty: an input that is left out

struct Attribute {
  std::string_view name;
  std::variant<std::int64_t, std::vector<std::int64_t>, std::string> value;
};

class Document {
 public:
  // What tensors that are made from here on are called after.
  std::string origin;

  void input(const Name& name, ops::DType dtype, const graph::Shape& shape);
  // A name that no other tensor has from here on: this one, or one like it.
  Name unused_name(const std::string& wanted);
  // `value` under the name of an output, which is no other tensor's.
  void output(const Name& name, const Name& value, ops::DType dtype, const graph::Shape& shape);
  // The result of an operator, or the `number`-th of several.
  Name node(std::string_view operation, const std::vector<Name>& inputs,
            const std::vector<Attribute>& attributes = {}, std::size_t number = 0);
  Name array(const graph::Array& array);
  // One element, of shape [].
  Name scalar(const ops::Number& number, ops::DType dtype);
  // i64, of one axis.
  Name integers(const std::vector<std::int64_t>& numbers);
  // `value` as the type; itself where it has it.
  Name cast(const Name& value, ops::DType from, ops::DType to);

  // The file. Error where it would be larger than a message of protocol buffers may be.
  std::string bytes(const std::string& graph_name) const;

 private:
  std::string_view kept(std::string text);
  format::ValueInfoProto port(const Name& name, ops::DType dtype, const graph::Shape& shape);

  std::deque<std::string> texts_;  // that the messages view
  format::GraphProto graph_;
  std::set<Name> names_;
  std::map<std::string, Name> said_;  // by what they are
};

}  // namespace twinloom::onnx
