// See functions.h.
#include "frontends/onnx/functions.h"

#include "core/base/text.h"

namespace twinloom::onnx {

namespace {

using format::AttributeProto;
using format::FunctionProto;
using format::NodeProto;

const AttributeProto* named(const google::protobuf::RepeatedPtrField<AttributeProto>& attributes,
                            const std::string& name) {
  for (const AttributeProto& attribute : attributes)
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

bool is_left_out(const std::string& input, const FunctionProto& function, const NodeProto& call) {
  for (int k = 0; k < function.input_size(); ++k)
    if (function.input(k) == input) return k >= call.input_size() || call.input(k).empty();
  return false;
}

}  // namespace

std::string key_of(const FunctionProto& function) {
  return cat(function.domain(), " ", function.name(), " ", function.overload());
}
std::string key_of(const NodeProto& node) {
  return cat(node.domain(), " ", node.op_type(), " ", node.overload());
}

NodeProto for_call(const NodeProto& node, const FunctionProto& function, const NodeProto& call) {
  NodeProto result = node;
  for (std::string& input : *result.mutable_input())
    if (is_left_out(input, function, call)) input.clear();
  result.clear_attribute();
  for (const AttributeProto& attribute : node.attribute()) {
    const AttributeProto* given = &attribute;
    if (const std::string& name = attribute.ref_attr_name(); !name.empty()) {
      given = named(call.attribute(), name);
      if (given == nullptr) given = named(function.attribute_proto(), name);
      if (given == nullptr) continue;
    }
    AttributeProto& added = *result.add_attribute();
    added = *given;
    added.set_name(attribute.name());
    for (NodeProto& inner : *added.mutable_g()->mutable_node()) inner = for_call(inner, function, call);
    if (!given->has_g()) added.clear_g();
  }
  return result;
}

}  // namespace twinloom::onnx
