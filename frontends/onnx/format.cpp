// The wire format of protocol buffers, by protozero. See format.h.
#include "frontends/onnx/format.h"

#include <protozero/pbf_reader.hpp>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "frontends/onnx/read.h"

namespace twinloom::onnx::format {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr int deepest = 100;  // messages inside of messages; what other readers of the format take, too

// An empty message takes two bytes of a file and some 200 here. What messages and texts may take: so many
// bytes for each of the file, and what small files may take beyond. Numbers take 8 for each at most.
constexpr std::size_t bytes_for_a_byte = 8;
constexpr std::size_t bytes_for_small_files = std::size_t{64} << 20;

template <class Field>
concept Number = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;

template <Number Field>
constexpr pbf_wire_type wire_type_of() {
  if (std::is_same_v<Field, float>) return pbf_wire_type::fixed32;
  if (std::is_same_v<Field, double>) return pbf_wire_type::fixed64;
  return pbf_wire_type::varint;
}

class Decoder {
 public:
  explicit Decoder(std::size_t size) : left_(bytes_for_small_files + bytes_for_a_byte * size) {}

  template <class Message>
  void read(pbf_reader bytes, Message& message) {
    if (++depth_ > deepest) throw Error(cat("messages are nested more than ", deepest, " deep"));
    while (bytes.next()) {
      const auto tag = bytes.tag();
      bool is_read = false;
      Message::fields(message, [&](protozero::pbf_tag_type number, auto& field) {
        if (number != tag) return;
        take(bytes, field);
        is_read = true;
      });
      if (!is_read) bytes.skip();
    }
    --depth_;
  }

 private:
  static void expect(const pbf_reader& bytes, pbf_wire_type type) {
    if (!bytes.has_wire_type(type))
      throw Error(cat("field ", bytes.tag(), " has wire type ", static_cast<int>(bytes.wire_type()),
                      " in place of ", static_cast<int>(type)));
  }

  void charge(std::size_t size) {
    if (size > left_) throw Error("it has too many messages for its size");
    left_ -= size;
  }

  template <Number Field>
  void take(pbf_reader& bytes, Field& field) {
    expect(bytes, wire_type_of<Field>());
    if constexpr (std::is_same_v<Field, float>) {
      field = bytes.get_float();
    } else if constexpr (std::is_same_v<Field, double>) {
      field = bytes.get_double();
    } else {
      field = static_cast<Field>(bytes.get_uint64());
    }
  }

  void take(pbf_reader& bytes, std::string_view& field) {
    expect(bytes, pbf_wire_type::length_delimited);
    const protozero::data_view view = bytes.get_view();
    field = {view.data(), view.size()};
  }

  template <class Message>
  void take(pbf_reader& bytes, Message& field) {
    expect(bytes, pbf_wire_type::length_delimited);
    read(bytes.get_message(), field);
  }

  template <class Field>
  void take(pbf_reader& bytes, std::optional<Field>& field) {
    if (!field) field.emplace();
    take(bytes, *field);
  }

  template <class Message>
  void take(pbf_reader& bytes, std::shared_ptr<Message>& field) {
    if (!field) charge(sizeof(Message));
    if (!field) field = std::make_shared<Message>();
    take(bytes, *field);
  }

  template <class Field>
  void take(pbf_reader& bytes, std::vector<Field>& field) {
    charge(sizeof(Field));
    take(bytes, field.emplace_back());
  }

  // Writers may put the numbers of a field side by side, or each into a field of its own.
  template <Number Field>
  void take(pbf_reader& bytes, std::vector<Field>& field) {
    if (!bytes.has_wire_type(pbf_wire_type::length_delimited)) return take(bytes, field.emplace_back());
    const auto append = [&field](const auto& numbers) {
      field.insert(field.end(), numbers.begin(), numbers.end());
    };
    if constexpr (std::is_same_v<Field, float>) {
      append(bytes.get_packed_float());
    } else if constexpr (std::is_same_v<Field, double>) {
      append(bytes.get_packed_double());
    } else {
      append(bytes.get_packed_uint64());
    }
  }

  std::size_t left_;  // bytes that messages and texts may take
  int depth_ = 0;
};

}  // namespace

template <class Message>
Message decoded(std::string_view bytes, const std::string& words) {
  if (std::cmp_greater(bytes.size(), most_bytes))
    throw Error(cat(words, ": it has ", bytes.size(), " bytes, at most ", most_bytes, " are read"));
  Message message;
  try {
    Decoder(bytes.size()).read(pbf_reader(bytes.data(), bytes.size()), message);
  } catch (const protozero::exception&) {
    throw Error(cat(words, ", or not the whole of one"));
  } catch (const Error& error) {
    throw Error(cat(words, ": ", error.what()));
  }
  return message;
}

template ModelProto decoded(std::string_view, const std::string&);
template TensorProto decoded(std::string_view, const std::string&);
template SequenceProto decoded(std::string_view, const std::string&);
template OptionalProto decoded(std::string_view, const std::string&);

}  // namespace twinloom::onnx::format
