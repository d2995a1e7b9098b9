// See call.h.
#include "frontends/onnx/call.h"

#include "core/base/error.h"
#include "frontends/onnx/tensors.h"

namespace twinloom::onnx {

using format::AttributeProto;

std::string Call::described(std::size_t position) const {
  const int at = static_cast<int>(position);
  const std::string name = at < node_.input_size() ? node_.input(at) : "";
  return name.empty() ? cat("input ", position) : cat("input ", position, " '", escaped(name), "'");
}

Tensor Call::tensor(std::size_t position) const {
  if (!has(position)) fail("needs input ", position, ", given are ", inputs_.size(), " inputs");
  return *inputs_[position];
}

std::optional<Tensor> Call::optional(std::size_t position) const {
  return has(position) ? inputs_[position] : std::nullopt;
}

Values Call::tensors() const {
  if (inputs_.empty()) fail("needs an input");
  Values result;
  for (std::size_t i = 0; i < inputs_.size(); ++i) result.push_back(tensor(i));
  return result;
}

bool Call::wants(std::size_t output) const {
  return output < outputs() && !node_.output(static_cast<int>(output)).empty();
}

std::vector<index::Expr> Call::sizes(std::size_t position) const {
  const Tensor given = tensor(position);
  if (given.rank() > 1 || !(ops::is_integer(given.dtype()) || given.dtype() == ops::DType::b8))
    fail(described(position), " must be a list of integers, it is ", ops::name(given.dtype()), " of ",
         given.rank(), " axes");
  if (const auto known = context_.known.integers(given)) return *known;
  const auto names = context_.known.unknown_inputs(given);
  const std::string words =
      join(names, ", ", [](const std::string& name) { return cat("'", escaped(name), "'"); });
  throw Unsupported(
      cat(described(position), ", which decides about shapes, is not known before the run",
          names.empty() ? "" : cat("; it follows from ", words, ", whose values can be given")));
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
  const Integers numbers = integers(position);
  if (numbers.size() != 1) fail(described(position), " must be one number, it has ", numbers.size());
  return numbers[0];
}

graph::Array Call::array(std::size_t position) const {
  const Tensor given = tensor(position);
  if (auto known = context_.known.array(given)) return *std::move(known);
  const auto names = context_.known.unknown_inputs(given);
  const std::string words =
      join(names, ", ", [](const std::string& name) { return cat("'", escaped(name), "'"); });
  throw Unsupported(
      cat(described(position), " is not known before the run",
          names.empty() ? "" : cat("; it follows from ", words, ", whose values can be given")));
}

std::vector<double> Call::reals(std::size_t position) const {
  const graph::Array known = array(position);
  const auto size = static_cast<std::size_t>(ops::size_of(known.dtype));
  const auto bytes = known.bytes.read();
  std::vector<double> result;
  for (std::size_t e = 0; e < bytes.size(); e += size)
    result.push_back(ops::real_of(ops::load_number(known.dtype, bytes.data() + e), known.dtype));
  return result;
}

const AttributeProto* Call::find(std::string_view attribute) const {
  for (const AttributeProto& each : node_.attribute()) {
    if (each.name() != attribute) continue;
    if (!each.ref_attr_name().empty()) unsupported("an attribute of a function");
    return &each;
  }
  return nullptr;
}

const AttributeProto* Call::find(std::string_view attribute, AttributeProto::AttributeType type) const {
  const AttributeProto* found = find(attribute);
  // Files of old writers say no type.
  if (found != nullptr && found->type() != type && found->type() != AttributeProto::UNDEFINED)
    fail("attribute '", attribute, "' must be of kind ", static_cast<int>(type), ", it is of kind ",
         static_cast<int>(found->type()));
  return found;
}

std::int64_t Call::integer(std::string_view attribute, std::int64_t otherwise) const {
  const AttributeProto* found = find(attribute, AttributeProto::INT);
  return found == nullptr ? otherwise : found->i();
}

bool Call::truth(std::string_view attribute, bool otherwise) const {
  return integer(attribute, otherwise ? 1 : 0) != 0;
}

double Call::real(std::string_view attribute, double otherwise) const {
  const AttributeProto* found = find(attribute, AttributeProto::FLOAT);
  return found == nullptr ? otherwise : static_cast<double>(found->f());
}

std::string Call::text(std::string_view attribute, std::string_view otherwise) const {
  const AttributeProto* found = find(attribute, AttributeProto::STRING);
  return found == nullptr ? std::string(otherwise) : found->s();
}

std::optional<Integers> Call::integers(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeProto::INTS);
  if (found == nullptr) return std::nullopt;
  return Integers(found->ints().begin(), found->ints().end());
}

std::optional<std::vector<double>> Call::reals(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeProto::FLOATS);
  if (found == nullptr) return std::nullopt;
  return std::vector<double>(found->floats().begin(), found->floats().end());
}

std::vector<std::string> Call::texts(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeProto::STRINGS);
  if (found == nullptr) return {};
  return {found->strings().begin(), found->strings().end()};
}

std::optional<graph::Array> Call::array(std::string_view attribute) const {
  const AttributeProto* found = find(attribute, AttributeProto::TENSOR);
  if (found == nullptr) return std::nullopt;
  return array_of(found->t(), context_.options.folder, cat("attribute '", attribute, "'"));
}

ops::DType Call::dtype(std::string_view attribute, ops::DType otherwise) const {
  const AttributeProto* found = find(attribute);
  if (found == nullptr) return otherwise;
  return dtype_of(integer(attribute, 0), cat("attribute '", attribute, "'"));
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

}  // namespace twinloom::onnx
