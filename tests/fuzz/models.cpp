// See models.h.
#include "tests/fuzz/models.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "frontends/onnx/encode.h"
#include "frontends/onnx/format.h"
#include "frontends/onnx/read.h"
#include "tests/conformance/random.h"

namespace twinloom::tests {

namespace {

namespace format = onnx::format;
using format::AttributeProto;
using format::GraphProto;
using format::ModelProto;
using format::NodeProto;
using format::TensorProto;

constexpr std::array<std::int64_t, 16> numbers = {0,
                                                  1,
                                                  2,
                                                  3,
                                                  4,
                                                  7,
                                                  -1,
                                                  -2,
                                                  -5,
                                                  1000,
                                                  1 << 20,
                                                  1 << 30,
                                                  1LL << 31,
                                                  1LL << 40,
                                                  std::numeric_limits<std::int64_t>::max(),
                                                  std::numeric_limits<std::int64_t>::min()};
constexpr std::array<float, 8> reals = {0.0f,
                                        -0.0f,
                                        1.0f,
                                        -1.0f,
                                        0.5f,
                                        1e30f,
                                        std::numeric_limits<float>::infinity(),
                                        std::numeric_limits<float>::quiet_NaN()};

template <class List>
std::size_t position_in(const List& list, Random& random) {
  return static_cast<std::size_t>(random.below(static_cast<std::int64_t>(list.size())));
}
template <class List>
auto* any_of(List& list, Random& random) {
  return list.empty() ? nullptr : &list[position_in(list, random)];
}

// One taken away, doubled or moved.
template <class List>
bool rearrange(List& list, Random& random) {
  if (list.empty()) return false;
  const auto at = list.begin() + static_cast<std::ptrdiff_t>(position_in(list, random));
  const auto one = *at;
  if (!random.chance(40)) list.erase(at);
  if (random.chance(60))
    list.insert(list.begin() + random.below(static_cast<std::int64_t>(list.size()) + 1), one);
  return true;
}

// Everything that damage looks at, of the graph and those inside of it. Pointers hold until a list changes.
struct Parts {
  std::vector<NodeProto*> nodes;
  std::vector<AttributeProto*> attributes;
  std::vector<TensorProto*> tensors;
  std::vector<std::string_view*> names;  // of values

  explicit Parts(GraphProto& graph) { add(graph); }
  void add(GraphProto& graph) {
    for (TensorProto& tensor : graph.initializer) tensors.push_back(&tensor), names.push_back(&tensor.name);
    for (auto* ports : {&graph.input, &graph.output})
      for (format::ValueInfoProto& port : *ports) names.push_back(&port.name);
    for (NodeProto& node : graph.node) {
      nodes.push_back(&node);
      for (auto* values : {&node.input, &node.output})
        for (std::string_view& name : *values) names.push_back(&name);
      for (AttributeProto& attribute : node.attribute) {
        attributes.push_back(&attribute);
        if (attribute.t) tensors.push_back(attribute.t.get());
        if (attribute.g) add(*attribute.g);
      }
    }
  }
};

template <class Part>
Part* any_part(ModelProto& model, std::vector<Part*> Parts::*list, Random& random) {
  Parts parts(*model.graph);
  auto* const* found = any_of(parts.*list, random);
  return found == nullptr ? nullptr : *found;
}
format::TensorTypeProto* any_type(ModelProto& model, Random& random) {
  auto* port = any_of(random.chance(80) ? model.graph->input : model.graph->output, random);
  return port == nullptr || !port->type.tensor_type ? nullptr : &*port->type.tensor_type;
}

bool change_dimension(ModelProto& model, Random& random) {
  auto* type = any_type(model, random);
  if (type == nullptr || !type->shape) return false;
  auto& dimensions = type->shape->dim;
  if (random.chance(20)) return rearrange(dimensions, random);
  auto* dimension = any_of(dimensions, random);
  if (dimension == nullptr) return false;
  *dimension = {};
  if (random.chance(25))
    dimension->dim_param = "n";
  else
    dimension->dim_value = random.pick(numbers);
  return true;
}

bool change_type(ModelProto& model, Random& random) {
  auto* type = any_type(model, random);
  if (type == nullptr) return false;
  type->elem_type = static_cast<std::int32_t>(random.between(-1, 29));
  return true;
}

bool change_tensor(ModelProto& model, Random& random) {
  TensorProto* found = any_part(model, &Parts::tensors, random);
  if (found == nullptr) return false;
  TensorProto& tensor = *found;
  const std::int64_t kind = random.below(5);
  if (kind == 0) tensor.data_type = static_cast<std::int32_t>(random.between(-1, 29));
  if (kind == 1) tensor.raw_data = tensor.raw_data.substr(0, tensor.raw_data.size() / 2);
  if (kind == 2) tensor.external_data.push_back({"location", "../elsewhere"});
  if (kind == 2) tensor.data_location = format::DataLocation::external;
  if (kind == 3) return rearrange(tensor.dims, random);
  if (kind == 4 && tensor.dims.empty()) tensor.dims.push_back(random.pick(numbers));
  if (kind == 4) *any_of(tensor.dims, random) = random.pick(numbers);
  return true;
}

// An integer of a list, which may be a shape, axes or a number of repeats. `kept` is where new bytes live.
bool change_element(ModelProto& model, Random& random, std::string& kept) {
  TensorProto* found = any_part(model, &Parts::tensors, random);
  if (found == nullptr) return false;
  TensorProto& tensor = *found;
  if (auto* element = any_of(tensor.int64_data, random)) *element = random.pick(numbers);
  if (auto* element = any_of(tensor.float_data, random)) *element = random.pick(reals);
  if (tensor.raw_data.size() < sizeof(std::int64_t)) return true;
  kept = tensor.raw_data;
  const std::int64_t number = random.pick(numbers);
  const auto places = static_cast<std::int64_t>(kept.size() / sizeof number);
  std::memcpy(kept.data() + random.below(places) * static_cast<std::int64_t>(sizeof number), &number,
              sizeof number);
  tensor.raw_data = kept;
  return true;
}

bool change_attribute(ModelProto& model, Random& random) {
  AttributeProto* found = any_part(model, &Parts::attributes, random);
  if (found == nullptr) return false;
  AttributeProto& attribute = *found;
  const std::int64_t kind = random.below(6);
  if (kind == 0) attribute.type = static_cast<format::AttributeType>(random.between(0, 15));
  if (kind == 1 && random.chance(50)) return rearrange(attribute.ints, random);
  if (kind >= 1) attribute.i = random.pick(numbers), attribute.f = random.pick(reals);
  if (kind >= 1)
    if (auto* number = any_of(attribute.ints, random)) *number = random.pick(numbers);
  if (kind == 5) attribute.s = "nothing";
  return true;
}

bool rearrange_attributes(ModelProto& model, Random& random) {
  NodeProto* node = any_part(model, &Parts::nodes, random);
  return node != nullptr && rearrange(node->attribute, random);
}

bool change_operator(ModelProto& model, Random& random) {
  static const std::vector<std::string> operators = onnx::operators();
  NodeProto* node = any_part(model, &Parts::nodes, random);
  if (node == nullptr) return false;
  if (random.chance(10))
    node->domain = random.chance(50) ? "com.microsoft" : "nowhere";
  else
    node->op_type = random.chance(5) ? std::string_view("Nothing") : random.pick(operators);
  return true;
}

bool change_name(ModelProto& model, Random& random) {
  std::string_view* name = any_part(model, &Parts::names, random);
  if (name == nullptr) return false;
  *name = random.chance(15) ? std::string_view() : *any_part(model, &Parts::names, random);
  return true;
}

bool rearrange_nodes(ModelProto& model, Random& random) { return rearrange(model.graph->node, random); }
bool rearrange_ports(ModelProto& model, Random& random) {
  NodeProto* node = any_part(model, &Parts::nodes, random);
  if (random.chance(20))
    return rearrange(random.chance(50) ? model.graph->input : model.graph->output, random);
  return node != nullptr && rearrange(random.chance(80) ? node->input : node->output, random);
}

bool change_opset(ModelProto& model, Random& random) {
  auto* opset = any_of(model.opset_import, random);
  if (opset == nullptr) return false;
  opset->version = random.chance(70) ? random.between(0, 30) : random.pick(numbers);
  return true;
}

struct Change {
  const char* name;
  bool (*change)(ModelProto& model, Random& random);
};
constexpr std::array<Change, 10> changes = {{{"a size of an input or output", change_dimension},
                                             {"the type of an input or output", change_type},
                                             {"type, sizes or data of a tensor", change_tensor},
                                             {"an attribute", change_attribute},
                                             {"an attribute left out or doubled", rearrange_attributes},
                                             {"an operator", change_operator},
                                             {"a name of a value", change_name},
                                             {"a node left out, doubled or moved", rearrange_nodes},
                                             {"an input left out, doubled or moved", rearrange_ports},
                                             {"the opset", change_opset}}};

std::string with_damaged_bytes(std::string bytes, Random& random) {
  const std::size_t at = position_in(bytes, random), length = 1 + static_cast<std::size_t>(random.below(16));
  const std::size_t from = position_in(bytes, random), here = std::min(length, bytes.size() - at);
  switch (random.below(6)) {
    case 0:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      bytes[at] = static_cast<char>(random.below(256));
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.erase(at, length);
      break;
    case 4:
      bytes.replace(at, here, here, '\0');
      break;
    default:
      bytes.replace(at, random.chance(50) ? here : 0, bytes.substr(from, length));
  }
  return bytes;
}

}  // namespace

DamagedModel damaged_model(std::string_view model, std::uint64_t seed) {
  Random random(seed);
  if (random.chance(30)) return {with_damaged_bytes(std::string(model), random), "bytes"};
  auto message = format::decoded<ModelProto>(model, "the model");
  if (!message.graph) return {std::string(model), "nothing"};
  std::string kept;
  if (random.chance(5) && change_element(message, random, kept))
    return {format::encoded(message), "an element of a tensor"};
  const Change& change = random.pick(changes);
  change.change(message, random);
  if (!random.chance(25)) return {format::encoded(message), change.name};
  for (int more = 0; more < 3; ++more) random.pick(changes).change(message, random);
  return {format::encoded(message), "several of these"};
}

}  // namespace twinloom::tests
