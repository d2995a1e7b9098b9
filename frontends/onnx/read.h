// An ONNX model -> Graph, and tensors in files of their own (.pb).
//
// Operators become calls of core/graph's builder, by the tables of operators.h. Files are untrusted: every
// count, size and offset is checked before it is used, and every mistake is an Error that names the node, its
// operator and opset, what was given and what was expected.
//
// Shapes, axes and other numbers that ONNX has as inputs must be known while the model is read: constants,
// what follows from shapes, and inputs whose values are given (`ReadOptions::values`). A graph that was made
// with the value of an input checks in each run that the input has it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/graph/builder.h"

namespace twinloom::onnx {

// A model that is no mistake, but more than is implemented.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// The tensors of a sequence, or those of an optional.
struct Elements {
  std::vector<graph::Array> tensors;
  bool is_sequence = true;  // else there is one tensor at most
};

struct ReadOptions {
  // That external data may lie in; empty: there can be none.
  std::filesystem::path folder;
  // The value of an input, by name and by its position among the graph's parameters; nothing where it is not
  // known. Asked for only where the graph depends on it.
  std::function<std::optional<graph::Array>(const std::string& name, std::size_t position)> values;
  // The elements of an input that is a sequence or an optional, by its position among the model's inputs
  // (without those that an initializer is the value of). The graph is for so many tensors of these types and
  // shapes: each is a parameter of its own, NAME[0], NAME[1], ... Nothing where they are not known.
  std::function<std::optional<Elements>(const std::string& name, std::size_t input)> elements;
  // What the model's bytes lie in, as a file that is mapped: large arrays are then not copied where their
  // elements are aligned, as those of 8 bits always are. Nothing: all are.
  std::shared_ptr<const void> owner = nullptr;
};

// What the inputs and outputs of a model are.
enum class Kind : std::uint8_t { tensor, sequence, optional };
struct Signature {
  std::vector<Kind> inputs, outputs;
};
Signature signature_of(std::string_view model);

// The bytes of a model, which are needed for the call alone, but where `owner` keeps them. Sizes named by
// dim_param are symbols. An output that is a sequence becomes a result for each of its tensors, NAME[0],
// NAME[1], ...; an optional one none or one.
graph::Graph read(std::string_view model, const ReadOptions& options = {});

// The bytes of a TensorProto. `what` names them in messages.
graph::Array read_tensor(std::string_view bytes, const std::string& what);

// The bytes of a TensorProto, SequenceProto or OptionalProto.
Elements read_elements(std::string_view bytes, Kind kind, const std::string& what);

// The operators that are read, sorted; those of other domains with them: "com.microsoft.Gelu".
std::vector<std::string> operators();

// The most bytes that a model may have: those of a message of protocol buffers.
inline constexpr std::int64_t most_bytes = (std::int64_t{1} << 31) - 1;

}  // namespace twinloom::onnx
