// Messages of ONNX as the bytes of a file: what format.h decodes.
#pragma once

#include <memory>
#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "frontends/onnx/format.h"

namespace twinloom::onnx::format {

template <class Field>
concept Number = std::is_arithmetic_v<Field> || std::is_enum_v<Field>;

class Encoder {
 public:
  explicit Encoder(std::string& bytes) : writer_(bytes) {}

  template <class Message>
  void write(const Message& message) {
    Message::fields(message, [this](std::uint32_t number, const auto& field) { put(number, field); });
  }

 private:
  // What is 0 or empty is left out.
  template <Number Field>
  void put(std::uint32_t number, const Field& field) {
    if (field == Field()) return;
    if constexpr (std::is_same_v<Field, float>) {
      writer_.add_float(number, field);
    } else {
      writer_.add_int64(number, static_cast<std::int64_t>(field));
    }
  }
  void put(std::uint32_t number, const std::string_view& field) {
    if (!field.empty()) writer_.add_bytes(number, field.data(), field.size());
  }
  template <class Message>
  void put(std::uint32_t number, const Message& message) {
    std::string bytes;
    Encoder(bytes).write(message);
    writer_.add_message(number, bytes);
  }
  // What is there, is written also where it is 0 or empty.
  void put(std::uint32_t number, const std::optional<std::int64_t>& field) {
    if (field) writer_.add_int64(number, *field);
  }
  template <class Message>
  void put(std::uint32_t number, const std::optional<Message>& field) {
    if (field) put(number, *field);
  }
  template <class Message>
  void put(std::uint32_t number, const std::shared_ptr<Message>& field) {
    if (field) put(number, *field);
  }
  void put(std::uint32_t number, const std::vector<std::string_view>& field) {
    for (const std::string_view each : field) writer_.add_bytes(number, each.data(), each.size());
  }
  template <class Message>
  void put(std::uint32_t number, const std::vector<Message>& field) {
    for (const Message& each : field) put(number, each);
  }
  template <Number Field>
  void put(std::uint32_t number, const std::vector<Field>& field) {
    if constexpr (std::is_same_v<Field, float>) {
      writer_.add_packed_float(number, field.begin(), field.end());
    } else if constexpr (std::is_same_v<Field, double>) {
      writer_.add_packed_double(number, field.begin(), field.end());
    } else {
      writer_.add_packed_int64(number, field.begin(), field.end());
    }
  }

  protozero::pbf_writer writer_;
};

template <class Message>
std::string encoded(const Message& message) {
  std::string bytes;
  Encoder(bytes).write(message);
  return bytes;
}

}  // namespace twinloom::onnx::format
