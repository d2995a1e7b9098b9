// Inside of the component: the messages and fields of ONNX files that are read, under the names of the public
// format. A row of `fields` is the number that a field has in a file.
//
// Texts and raw data are views into the bytes that were decoded and end with them; they are bytes, which need
// not be UTF-8 and are escaped where they are shown. What a file leaves out is 0, empty or nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace twinloom::onnx::format {

// One that is there or not, and is not looked into.
struct OtherProto {
  static void fields(auto& /*message*/, auto /*visit*/) {}
};

struct StringStringEntryProto {
  std::string_view key, value;
  static void fields(auto& message, auto visit) {
    visit(1, message.key);
    visit(2, message.value);
  }
};

enum class DataLocation : std::int32_t { in_the_model = 0, external = 1 };

struct TensorProto {
  std::vector<std::int64_t> dims;
  std::int32_t data_type = 0;
  std::vector<float> float_data;
  std::vector<std::int32_t> int32_data;
  std::vector<std::int64_t> int64_data;
  std::string_view name, raw_data;
  std::vector<double> double_data;
  std::vector<std::uint64_t> uint64_data;
  std::vector<StringStringEntryProto> external_data;
  DataLocation data_location = DataLocation::in_the_model;
  static void fields(auto& message, auto visit) {
    visit(1, message.dims);
    visit(2, message.data_type);
    visit(4, message.float_data);
    visit(5, message.int32_data);
    visit(7, message.int64_data);
    visit(8, message.name);
    visit(9, message.raw_data);
    visit(10, message.double_data);
    visit(11, message.uint64_data);
    visit(13, message.external_data);
    visit(14, message.data_location);
  }
};

struct SequenceProto {
  std::vector<TensorProto> tensor_values;
  static void fields(auto& message, auto visit) { visit(3, message.tensor_values); }
};

struct OptionalProto {
  std::optional<TensorProto> tensor_value;
  std::optional<SequenceProto> sequence_value;
  static void fields(auto& message, auto visit) {
    visit(3, message.tensor_value);
    visit(5, message.sequence_value);
  }
};

struct DimensionProto {
  std::optional<std::int64_t> dim_value;
  std::string_view dim_param;
  static void fields(auto& message, auto visit) {
    visit(1, message.dim_value);
    visit(2, message.dim_param);
  }
};

struct TensorShapeProto {
  std::vector<DimensionProto> dim;
  static void fields(auto& message, auto visit) { visit(1, message.dim); }
};

struct TensorTypeProto {
  std::int32_t elem_type = 0;
  std::optional<TensorShapeProto> shape;
  static void fields(auto& message, auto visit) {
    visit(1, message.elem_type);
    visit(2, message.shape);
  }
};

struct TypeProto {
  std::optional<TensorTypeProto> tensor_type;
  std::optional<OtherProto> sequence_type, map_type, sparse_tensor_type, optional_type;
  bool is_given() const {
    return tensor_type || sequence_type || map_type || sparse_tensor_type || optional_type;
  }
  static void fields(auto& message, auto visit) {
    visit(1, message.tensor_type);
    visit(4, message.sequence_type);
    visit(5, message.map_type);
    visit(8, message.sparse_tensor_type);
    visit(9, message.optional_type);
  }
};

struct ValueInfoProto {
  std::string_view name;
  TypeProto type;
  static void fields(auto& message, auto visit) {
    visit(1, message.name);
    visit(2, message.type);
  }
};

struct GraphProto;

// Which of the fields of an attribute holds its value; the numbers that are missing here are refused.
enum class AttributeType : std::int32_t {
  undefined = 0,  // in files of old writers
  real = 1,
  integer = 2,
  text = 3,
  tensor = 4,
  graph = 5,
  reals = 6,
  integers = 7,
  texts = 8,
};

// What is rare and large, is held by pointers, which copies share.
struct AttributeProto {
  std::string_view name;
  AttributeType type = AttributeType::undefined;
  float f = 0;
  std::int64_t i = 0;
  std::string_view s;
  std::shared_ptr<TensorProto> t;
  std::shared_ptr<GraphProto> g;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string_view> strings;
  std::string_view ref_attr_name;
  static void fields(auto& message, auto visit) {
    visit(1, message.name);
    visit(2, message.f);
    visit(3, message.i);
    visit(4, message.s);
    visit(5, message.t);
    visit(6, message.g);
    visit(7, message.floats);
    visit(8, message.ints);
    visit(9, message.strings);
    visit(20, message.type);
    visit(21, message.ref_attr_name);
  }
};

struct NodeProto {
  std::vector<std::string_view> input, output;
  std::string_view name, op_type, domain, overload;
  std::vector<AttributeProto> attribute;
  static void fields(auto& message, auto visit) {
    visit(1, message.input);
    visit(2, message.output);
    visit(3, message.name);
    visit(4, message.op_type);
    visit(5, message.attribute);
    visit(7, message.domain);
    visit(8, message.overload);
  }
};

struct GraphProto {
  std::vector<NodeProto> node;
  std::string_view name;
  std::vector<TensorProto> initializer;
  std::vector<ValueInfoProto> input, output;
  std::optional<OtherProto> sparse_initializer;  // whether there is any
  static void fields(auto& message, auto visit) {
    visit(1, message.node);
    visit(2, message.name);
    visit(5, message.initializer);
    visit(11, message.input);
    visit(12, message.output);
    visit(15, message.sparse_initializer);
  }
};

struct OperatorSetIdProto {
  std::string_view domain;
  std::int64_t version = 0;
  static void fields(auto& message, auto visit) {
    visit(1, message.domain);
    visit(2, message.version);
  }
};

struct FunctionProto {
  std::string_view name;
  std::vector<std::string_view> input, output;
  std::vector<NodeProto> node;
  std::vector<OperatorSetIdProto> opset_import;
  std::string_view domain;
  std::vector<AttributeProto> attribute_proto;
  std::string_view overload;
  static void fields(auto& message, auto visit) {
    visit(1, message.name);
    visit(4, message.input);
    visit(5, message.output);
    visit(7, message.node);
    visit(9, message.opset_import);
    visit(10, message.domain);
    visit(11, message.attribute_proto);
    visit(13, message.overload);
  }
};

struct ModelProto {
  std::int64_t ir_version = 0;  // with which files begin
  std::string_view producer_name;
  std::vector<OperatorSetIdProto> opset_import;
  std::optional<GraphProto> graph;
  std::vector<FunctionProto> functions;
  static void fields(auto& message, auto visit) {
    visit(1, message.ir_version);
    visit(2, message.producer_name);
    visit(7, message.graph);
    visit(8, message.opset_import);
    visit(25, message.functions);
  }
};

// The message that the bytes are, a ModelProto, TensorProto, SequenceProto or OptionalProto; fields without a
// row are skipped. Error starting with `words` where they are none, or not the whole of one, or would take
// many times their number of bytes.
template <class Message>
Message decoded(std::string_view bytes, const std::string& words);

}  // namespace twinloom::onnx::format
