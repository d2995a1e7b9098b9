// See call.h.
#include "frontends/onnx/call.h"

#include "core/base/error.h"
#include "frontends/onnx/tensors.h"

namespace twinloom::onnx {

using format::AttributeProto;
using format::AttributeType;

std::string Call::described(std::size_t position) const {
  const std::string_view name = position < node_.input.size() ? node_.input[position] : "";
  return name.empty() ? cat("input ", position) : cat("input ", position, " '", escaped(name), "'");
}

bool Call::has(std::size_t position) const {
  read_inputs_.insert(position);
  return position < inputs_.size() && inputs_[position];
}

Value Call::value(std::size_t position) const {
  if (!has(position)) fail("needs input ", position, ", given are ", inputs_.size(), " inputs");
  return *inputs_[position];
}

Tensor Call::tensor_in(const Value& value, std::string_view what) const {
  if (value.narrow != nullptr) unsupported(what, " of ", value.narrow->name);
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  fail(what, " must be a tensor, it is ",
       std::holds_alternative<Sequence>(value) ? "a sequence" : "an optional without a value");
}

// Of a narrow type only where the operator takes these, as its row says.
Tensor Call::tensor(std::size_t position) const {
  Value given = value(position);
  given.narrow = nullptr;
  return tensor_in(given, described(position));
}

ElementType Call::type(std::size_t position) const {
  return {tensor(position).dtype(), value(position).narrow};
}

std::optional<std::size_t> Call::narrow_input() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i] && inputs_[i]->narrow != nullptr) return i;
  return std::nullopt;
}

Sequence Call::sequence(std::size_t position) const {
  const Value given = value(position);
  if (const auto* sequence = std::get_if<Sequence>(&given)) return *sequence;
  fail(described(position), " must be a sequence, it is ",
       std::holds_alternative<Tensor>(given) ? "a tensor" : "an optional without a value");
}

std::optional<Tensor> Call::optional(std::size_t position) const {
  return has(position) ? std::optional(tensor(position)) : std::nullopt;
}

Values Call::tensors() const {
  if (inputs_.empty()) fail("needs an input");
  Values result;
  for (std::size_t i = 0; i < inputs_.size(); ++i) result.push_back(tensor(i));
  return result;
}

bool Call::wants(std::size_t output) const { return output < outputs() && !node_.output[output].empty(); }

void Call::fail_unknown(const Tensor& tensor, std::string_view what) const {
  const auto names = context_.known.unknown_inputs(tensor);
  const std::string words =
      join(names, ", ", [](const std::string& name) { return cat("'", escaped(name), "'"); });
  throw Unsupported(
      cat(what, " must be known before the run",
          names.empty() ? "" : cat("; it follows from ", words, ", whose values can be given")));
}

std::vector<index::Expr> Call::sizes_in(const Tensor& tensor, std::string_view what) const {
  if (tensor.rank() > 1 || !(ops::is_integer(tensor.dtype()) || tensor.dtype() == ops::DType::b8))
    fail(what, " must be a list of integers, it is ", ops::name(tensor.dtype()), " of ", tensor.rank(),
         " axes");
  if (const auto known = context_.known.integers(tensor)) return *known;
  fail_unknown(tensor, what);
}

std::vector<index::Expr> Call::sizes(std::size_t position) const {
  return sizes_in(tensor(position), described(position));
}

Integers Call::integers(std::size_t position) const {
  Integers result;
  for (const index::Expr& size : sizes(position)) {
    const auto known = index::constant_of(size);
    if (!known) unsupported(described(position), " with the symbolic number ", index::print(size));
    result.push_back(*known);
  }
  return result;
}

std::int64_t Call::integer(std::size_t position) const {
  return integer_of(tensor(position), described(position));
}

std::int64_t Call::integer_of(const Tensor& tensor, std::string_view what) const {
  const auto numbers = sizes_in(tensor, what);
  if (numbers.size() != 1) fail(what, " must be one number, it has ", numbers.size());
  const auto known = index::constant_of(numbers[0]);
  if (!known) unsupported(what, " with the symbolic number ", index::print(numbers[0]));
  return *known;
}

graph::Array Call::array(std::size_t position) const { return array(tensor(position), described(position)); }

graph::Array Call::array(const Tensor& tensor, std::string_view what) const {
  if (auto known = context_.known.array(tensor)) return *std::move(known);
  fail_unknown(tensor, what);
}

AnyValues Call::run(std::string_view attribute, const AnyValues& inputs) const {
  const AttributeProto* found = find(attribute, AttributeType::graph);
  if (found == nullptr) fail("needs attribute '", attribute, "'");
  if (!found->g) fail("attribute '", attribute, "' holds no graph");
  return context_.run(*found->g, inputs);
}

std::vector<double> reals_in(const graph::Array& array) {
  const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
  const auto bytes = array.bytes.read();
  std::vector<double> result;
  for (std::size_t e = 0; e < bytes.size(); e += size)
    result.push_back(ops::real_of(ops::load_number(array.dtype, bytes.data() + e), array.dtype));
  return result;
}

std::vector<double> Call::reals(std::size_t position) const { return reals_in(array(position)); }

void Call::ignore(std::initializer_list<std::string_view> attributes) const {
  read_attributes_.insert(attributes.begin(), attributes.end());
}

std::vector<std::string> Call::unread_attributes() const {
  std::vector<std::string> unread;
  for (const AttributeProto& each : node_.attribute)
    if (!read_attributes_.contains(each.name)) unread.emplace_back(each.name);
  return unread;
}

std::vector<std::size_t> Call::unread_inputs() const {
  std::vector<std::size_t> unread;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (inputs_[i] && !read_inputs_.contains(i)) unread.push_back(i);
  return unread;
}

const AttributeProto* Call::find(std::string_view attribute) const {
  read_attributes_.emplace(attribute);
  for (const AttributeProto& each : node_.attribute) {
    if (each.name != attribute) continue;
    if (!each.ref_attr_name.empty())
      fail("attribute '", attribute, "' is that of a function, and there is none");
    return &each;
  }
  return nullptr;
}

const AttributeProto* Call::find(std::string_view attribute, AttributeType type) const {
  const AttributeProto* found = find(attribute);
  // Files of old writers say no type.
  if (found != nullptr && found->type != type && found->type != AttributeType::undefined)
    fail("attribute '", attribute, "' must be of kind ", static_cast<int>(type), ", it is of kind ",
         static_cast<int>(found->type));
  return found;
}

std::int64_t Call::integer(std::string_view attribute, std::int64_t otherwise) const {
  const AttributeProto* found = find(attribute, AttributeType::integer);
  return found == nullptr ? otherwise : found->i;
}

bool Call::truth(std::string_view attribute, bool otherwise) const {
  return integer(attribute, otherwise ? 1 : 0) != 0;
}

double Call::real(std::string_view attribute, double otherwise) const {
  const AttributeProto* found = find(attribute, AttributeType::real);
  return found == nullptr ? otherwise : static_cast<double>(found->f);
}

std::string Call::text(std::string_view attribute, std::string_view otherwise) const {
  const AttributeProto* found = find(attribute, AttributeType::text);
  return std::string(found == nullptr ? otherwise : found->s);
}

std::optional<Integers> Call::integers(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeType::integers);
  if (found == nullptr) return std::nullopt;
  return found->ints;
}

std::optional<std::vector<double>> Call::reals(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeType::reals);
  if (found == nullptr) return std::nullopt;
  return std::vector<double>(found->floats.begin(), found->floats.end());
}

std::vector<std::string> Call::texts(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeType::texts);
  if (found == nullptr) return {};
  return {found->strings.begin(), found->strings.end()};
}

std::optional<graph::Array> Call::array(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeType::tensor);
  if (found == nullptr) return std::nullopt;
  if (!found->t) fail("attribute '", attribute, "' holds no tensor");
  return array_of(*found->t, context_.options, cat("attribute '", attribute, "'"));
}

ops::DType Call::dtype(std::string_view attribute, ops::DType otherwise) const {
  const AttributeProto* found = find(attribute);
  if (found == nullptr) return otherwise;
  return dtype_of(integer(attribute, 0), cat("attribute '", attribute, "'"));
}

ElementType Call::type(std::string_view attribute, ElementType otherwise) const {
  if (find(attribute) == nullptr) return otherwise;
  return element_type(integer(attribute, 0), cat("attribute '", attribute, "'"));
}

const NarrowType* Call::narrow(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeType::tensor);
  if (found == nullptr || !found->t) return nullptr;
  return element_type(found->t->data_type, cat("attribute '", attribute, "'")).narrow;
}

std::optional<Integers> Call::integers(std::string_view attribute, std::size_t position) const {
  if (has(position)) return integers(position);
  return integers(attribute);
}

int Call::axis(std::int64_t given, int rank) const {
  if (given < -rank || given >= rank)
    fail("axis ", given, " must lie in ", -rank, " to ", rank - 1, " of a tensor of ", rank, " axes");
  return static_cast<int>(given < 0 ? given + rank : given);
}

std::pair<Tensor, int> Call::tensor_along_axis() const {
  const Tensor x = tensor(0);
  if (!has_attribute("axis")) return {graph::reshape(x, {-1}), 0};
  return {x, axis(integer("axis", 0), x.rank())};
}

}  // namespace twinloom::onnx
