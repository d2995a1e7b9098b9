// See functions.h.
#include "frontends/onnx/functions.h"

#include "core/base/text.h"

namespace twinloom::onnx {

namespace {

using format::AttributeProto;
using format::FunctionProto;
using format::GraphProto;
using format::NodeProto;

const AttributeProto* named(const std::vector<AttributeProto>& attributes, std::string_view name) {
  for (const AttributeProto& attribute : attributes)
    if (attribute.name == name) return &attribute;
  return nullptr;
}

bool is_left_out(std::string_view input, const FunctionProto& function, const NodeProto& call) {
  for (std::size_t k = 0; k < function.input.size(); ++k)
    if (function.input[k] == input) return k >= call.input.size() || call.input[k].empty();
  return false;
}

}  // namespace

std::string key_of(const FunctionProto& function) {
  return cat(function.domain, " ", function.name, " ", function.overload);
}
std::string key_of(const NodeProto& node) { return cat(node.domain, " ", node.op_type, " ", node.overload); }

NodeProto for_call(const NodeProto& node, const FunctionProto& function, const NodeProto& call) {
  NodeProto result = node;
  for (std::string_view& input : result.input)
    if (is_left_out(input, function, call)) input = {};
  result.attribute.clear();
  for (const AttributeProto& attribute : node.attribute) {
    const AttributeProto* given = &attribute;
    if (const std::string_view name = attribute.ref_attr_name; !name.empty()) {
      given = named(call.attribute, name);
      if (given == nullptr) given = named(function.attribute_proto, name);
      if (given == nullptr) continue;
    }
    AttributeProto& added = result.attribute.emplace_back(*given);
    added.name = attribute.name;
    if (!given->g) continue;
    added.g = std::make_shared<GraphProto>(*given->g);
    for (NodeProto& inner : added.g->node) inner = for_call(inner, function, call);
  }
  return result;
}

}  // namespace twinloom::onnx
