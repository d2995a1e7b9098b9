// Inside of the component: functions that a model brings along, whose bodies are read in place of their
// calls.
#pragma once

#include <string>

#include "frontends/onnx/format.h"

namespace twinloom::onnx {

// "domain name overload", of a function and of what calls one.
std::string key_of(const format::FunctionProto& function);
std::string key_of(const format::NodeProto& node);

// A node of the body for this call: attributes that name one of the function's are those of the call, or else
// their defaults, or are left out; inputs that the call leaves out are left out. So it is in graphs inside of
// the node.
format::NodeProto for_call(const format::NodeProto& node, const format::FunctionProto& function,
                           const format::NodeProto& call);

}  // namespace twinloom::onnx
