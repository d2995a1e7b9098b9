// Graphs built call by call by the C API: what they are, what is refused, and that they are what the same
// text is.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "api/include/twinloom/twinloom.h"
#include "tests/api/failures.h"

namespace twinloom::c {
namespace {

constexpr DLDataType F32 = {kDLFloat, 32, 1};

twinloom_operand value(std::int64_t number) {
  twinloom_operand operand{};
  operand.kind = TWINLOOM_OPERAND_VALUE;
  operand.as.integer = number;
  return operand;
}
twinloom_operand integer(std::int64_t number) {
  twinloom_operand operand = value(number);
  operand.kind = TWINLOOM_OPERAND_INTEGER;
  return operand;
}
twinloom_operand truth(bool held) {
  twinloom_operand operand = value(held ? 1 : 0);
  operand.kind = TWINLOOM_OPERAND_TRUTH;
  return operand;
}
twinloom_operand text(const char* words, const char* keyword = nullptr) {
  twinloom_operand operand{};
  operand.kind = TWINLOOM_OPERAND_TEXT;
  operand.as.text = words;
  operand.keyword = keyword;
  return operand;
}

class Building : public testing::Test {
 protected:
  Building() {
    expect_ok(twinloom_builder_new("rows", &builder));
    const std::array<const char*, 2> sizes = {"n", "4"};
    expect_ok(twinloom_builder_input(builder, "x", F32, sizes.size(), sizes.data(), &x));
  }
  ~Building() override {
    twinloom_graph_free(graph);
    twinloom_builder_free(builder);
  }
  template <std::size_t Count>
  twinloom_error* call(const char* target, const std::array<twinloom_operand, Count>& operands,
                       std::int64_t* result) {
    return twinloom_builder_call(builder, target, operands.data(), Count, result, 1);
  }
  std::string finished(std::vector<std::int64_t> results, const char* const* names = nullptr) {
    expect_ok(twinloom_builder_finish(builder, results.data(), names, results.size(), &graph));
    return text_of(graph);
  }
  static std::string text_of(const twinloom_graph* of) {
    char* text = nullptr;
    expect_ok(twinloom_graph_text(of, &text));
    const std::string copy = text == nullptr ? "" : text;
    twinloom_text_free(text);
    return copy;
  }
  twinloom_builder* builder = nullptr;
  twinloom_graph* graph = nullptr;
  std::int64_t x = -1, y = -1;
};

TEST_F(Building, ACallIsWhatTheSameTextIs) {
  expect_ok(call<3>("torch.ops.aten._softmax.default", {value(x), integer(-1), truth(false)}, &y));
  const char* name = "y";
  const std::string built = finished({y}, &name);
  const std::string text =
      "class rows(torch.nn.Module):\n    def forward(self, x: \"f32[n, 4]\"):\n"
      "        _softmax: \"f32[n, 4]\" = torch.ops.aten._softmax.default(x, -1, False)\n        return "
      "(_softmax,)\n";
  twinloom_graph* read = nullptr;
  expect_ok(twinloom_graph_read(text.data(), text.size(), nullptr, &read));
  const auto body = [](const std::string& printed) { return printed.substr(printed.find("parameter")); };
  const auto until_result = [&](const std::string& printed) {
    return body(printed).substr(0, body(printed).find("result"));
  };
  EXPECT_EQ(until_result(built), until_result(text_of(read)));
  EXPECT_NE(built.find("result \"y\" = own"), std::string::npos);
  twinloom_graph_free(read);
}

TEST_F(Building, ListsGiveAsManyValuesAsAreAskedFor) {
  std::array<std::int64_t, 2> parts{};
  const std::array<twinloom_operand, 3> operands = {value(x), integer(2), integer(1)};
  expect_ok(
      twinloom_builder_call(builder, "aten.split.Tensor", operands.data(), operands.size(), parts.data(), 2));
  expect_invalid(
      twinloom_builder_call(builder, "aten.split.Tensor", operands.data(), operands.size(), parts.data(), 3),
      "3 values were asked for; it gives 2");
  twinloom_operand list{};
  list.kind = TWINLOOM_OPERAND_LIST;
  const std::array<twinloom_operand, 2> turned = {value(parts[1]), value(parts[0])};
  list.as.list = {turned.data(), turned.size()};
  expect_ok(call<2>("aten.cat.default", {list, integer(1)}, &y));
  twinloom_port port{};
  port.size = sizeof port;
  expect_ok(twinloom_builder_port(builder, y, &port));
  EXPECT_EQ(port.ndim, 2);
  EXPECT_STREQ(port.shape_symbols[0], "n");
  EXPECT_EQ(port.shape[1], 4);
}

TEST_F(Building, KeywordsSizesTypesAndRealsAreOperands) {
  expect_ok(call<2>("aten.gelu", {value(x), text("tanh", "approximate")}, &y));
  twinloom_operand dtype{};
  dtype.kind = TWINLOOM_OPERAND_DTYPE;
  dtype.as.dtype = {kDLFloat, 64, 1};
  expect_ok(call<2>("prims.convert_element_type.default", {value(y), dtype}, &y));
  twinloom_operand half{};
  half.kind = TWINLOOM_OPERAND_REAL;
  half.as.real = 0.5;
  expect_ok(call<2>("aten.mul.Tensor", {value(y), half}, &y));
  twinloom_operand size = text("2*n");
  size.kind = TWINLOOM_OPERAND_SIZE;
  const std::array<twinloom_operand, 2> shape = {size, integer(2)};
  twinloom_operand list{};
  list.kind = TWINLOOM_OPERAND_LIST;
  list.as.list = {shape.data(), shape.size()};
  expect_ok(call<2>("aten.view.default", {value(y), list}, &y));
  EXPECT_NE(finished({y, -1}).find("f64 [2*n, 2]"), std::string::npos);
  EXPECT_EQ(twinloom_graph_result_count(graph), 2u);
}

TEST_F(Building, AnOriginIsThatOfTheCallsBehindIt) {
  expect_ok(twinloom_builder_origin(builder, "scaled", "model.py", 12));
  expect_ok(call<2>("aten.mul.Tensor", {value(x), integer(2)}, &y));
  expect_invalid(call<2>("aten.unsqueeze.default", {value(y), integer(9)}, &y), "model.py:12");
  expect_ok(twinloom_builder_origin(builder, nullptr, nullptr, 0));
  expect_ok(call<1>("aten.exp", {value(y)}, &y));
  const std::string text = finished({y});
  EXPECT_NE(text.find("scaled"), std::string::npos) << text;
  EXPECT_NE(text.find("file \"model.py\" 12"), std::string::npos) << text;
  EXPECT_NE(text.find("exp"), std::string::npos) << text;
  expect_invalid(twinloom_builder_origin(builder, "scaled", "model.py", -1), "line -1 is of no file");
}

TEST_F(Building, AParameterThatIsWrittenIsAResult) {
  expect_ok(call<2>("aten.add_.Tensor", {value(x), integer(1)}, &y));
  EXPECT_NE(finished({}).find("written"), std::string::npos);
}

TEST_F(Building, WhatIsWrongIsAnErrorAndLeavesTheBuilderAsItWas) {
  expect_invalid(call<1>("aten.softmaxx", {value(x)}, &y),
                 "there is no operator aten.softmaxx; the nearest are");
  expect_invalid(call<1>("aten.exp", {value(7)}, &y), "there is no value 7; the builder has given 1");
  expect_invalid(call<1>("aten.exp", {value(-1)}, &y), "there is no value -1");
  expect_invalid(call<1>("aten.exp", {text("x")}, &y), "exp");
  expect_invalid(call<2>("aten.exp", {text("x", "self"), value(x)}, &y),
                 "operand 1 has no keyword and stands behind one that has");
  expect_invalid(call<1>("aten.exp", {twinloom_operand{99, nullptr, {}}}, &y), "an operand is of kind 99");
  expect_invalid(call<1>(nullptr, {value(x)}, &y), "target is NULL");
  twinloom_operand size = text("2*");
  size.kind = TWINLOOM_OPERAND_SIZE;
  expect_invalid(call<2>("aten.mul", {value(x), size}, &y), "an operand's size, '2*'");
  expect_invalid(twinloom_builder_input(builder, "x", F32, 0, nullptr, &y), "there are two parameters 'x'");
  const char* wrong = "n+";
  expect_invalid(twinloom_builder_input(builder, "q", F32, 1, &wrong, &y), "input 'q': size 0, 'n+'");
  twinloom_operand nested{};
  nested.kind = TWINLOOM_OPERAND_LIST;
  nested.as.list = {&nested, 1};
  expect_invalid(call<1>("aten.cat", {nested}, &y), "lists in more than 8 lists");
  EXPECT_EQ(y, -1);
  const std::int64_t none = 12;
  expect_invalid(twinloom_builder_finish(builder, &none, nullptr, 1, &graph), "there is no value 12");
  EXPECT_NE(finished({x}).find("result \"\" = input 0"), std::string::npos);
}

TEST_F(Building, AFinishedBuilderIsEmpty) {
  finished({x});
  expect_invalid(call<1>("aten.exp", {value(0)}, &y), "the builder has given 0");
}

}  // namespace
}  // namespace twinloom::c
