// A Scatter that becomes a select gives the Scatter's bits: in the graph, in one nest, and that nest's
// interpreter. For every form, mode and type, with places that repeat, zeros of both signs and NaN.
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.h"
#include "core/fuse/fuse.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

namespace {

using namespace graph;
using ops::DType;

// How a form combines what it writes.
struct Write {
  DType dtype;
  Mode mode;
  bool include_self;
};

struct Form {
  const char* name;
  Tensor (*build)(Builder& b, const Write& write);
  bool rows = false;  // more than 2 that are written whole: replaced, they stay a scatter
};

Tensor base(Builder& b, Shape shape, DType dtype) {
  return b.constant(dtype == DType::b8 ? ops::Number(1) : ops::Number(-0.0), dtype, std::move(shape));
}
Tensor at(Builder& b, Shape shape) { return b.input("at", DType::i64, std::move(shape)); }
Tensor along(Builder& b, const Write& write, int axis, const Shape& index) {
  const Tensor x = base(b, {5, 3}, write.dtype), places = at(b, index);
  const Tensor source = b.input("source", write.dtype, {5, 8});
  return scatter(x, axis, places, source, write.mode, write.include_self);
}
Tensor put(Builder& b, const Write& write, const Indices& indices, Shape values) {
  return index_put(base(b, {4, 3}, write.dtype), indices, b.input("source", write.dtype, std::move(values)),
                   write.mode);
}

constexpr Form forms[] = {
    {"one a row",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {5, 1});
     }},
    {"two a row",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {5, 2});
     }},
    {"three a row",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {5, 3});
     }},
    {"five a row",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {5, 5});
     }},
    {"eight of fewer rows",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {2, 8});
     }},
    {"three of fewer columns",
     [](Builder& b, const Write& write) {
       return along(b, write, 0, {3, 2});
     }},
    {"rows of an index",
     [](Builder& b, const Write& write) {
       const Tensor x = base(b, {3, 7}, write.dtype), places = at(b, {4});
       const Tensor source = b.input("source", write.dtype, {4, 7});
       return index_update(x, 0, places, source, write.mode, write.include_self);
     },
     true},
    {"upon memory",
     [](Builder& b, const Write& write) {
       const Tensor x = b.input("x", write.dtype, {5, 3}), places = at(b, {5, 3});
       return scatter(x, 1, places, b.input("source", write.dtype, {5, 3}), write.mode, write.include_self);
     }},
    {"index_put of two rows",
     [](Builder& b, const Write& write) {
       return put(b, write, {at(b, {2})}, {2, 3});
     }},
    {"index_put of three rows",
     [](Builder& b, const Write& write) {
       return put(b, write, {at(b, {3})}, {3, 3});
     },
     true},
    {"index_put of two indices",
     [](Builder& b, const Write& write) {
       return put(b, write, {at(b, {5}), at(b, {5})}, {5});
     }},
    {"index_put at the second axis",
     [](Builder& b, const Write& write) {
       return put(b, write, {{}, at(b, {2, 2})}, {4, 2, 2});
     },
     true},
    {"index_put of rows and an index",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.iota({4}, 0), at(b, {4})}, {4});
     }},
    {"index_put of some rows, from the end",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.arange(2, -3, 1, DType::i32), at(b, {2})}, {2});
     }},
    {"index_put of rows backwards",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.arange(3, 3, -1, DType::i64)}, {3, 3});
     }},
    {"index_put along the diagonal",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.iota({3}, 0), b.iota({3}, 0)}, {3});
     }},
    {"index_put of every second row, backwards, at one place each",
     [](Builder& b, const Write& write) {
       const Tensor x = base(b, {9, 3}, write.dtype), places = at(b, {4});
       const Tensor source = b.input("source", write.dtype, {4});
       return index_put(x, {b.arange(4, 7, -2, DType::i64), places}, source, write.mode);
     }},
    {"index_put of every third row",
     [](Builder& b, const Write& write) {
       return index_put(base(b, {40, 2}, write.dtype), {b.arange(12, 4, 3, DType::i64)},
                        b.input("source", write.dtype, {12, 2}), write.mode);
     }},
    {"index_put of every second row",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.arange(2, 0, 2, DType::i64)}, {2, 3});
     }},
    {"index_put at one place",
     [](Builder& b, const Write& write) {
       return put(b, write, {at(b, {1}), b.constant(2, DType::i64)}, {1});
     }},
    {"no rows, at places that follow from their number",
     [](Builder& b, const Write& write) {
       return put(b, write, {b.iota({0}, 0)}, {0, 3});
     }},
    {"nothing",
     [](Builder& b, const Write& write) {
       return along(b, write, 1, {5, 0});
     }},
};

// Some of the numbers are zeros of both signs, infinite or none.
void make_special(evaluate::Value& array, unsigned seed) {
  constexpr double specials[] = {0.0, -0.0, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity()};
  if (!ops::is_floating(array.dtype)) return;
  const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
  for (std::size_t k = seed % 3; k * size < array.bytes.size(); k += 3)
    ops::store_number(array.dtype, ops::cast(specials[(k + seed) % 4], array.dtype),
                      array.bytes.data() + k * size);
}

void expect_a_select(const Graph& before, unsigned seed) {
  const Graph after = scatter_to_select(before);
  for (const Node& node : after.nodes()) EXPECT_FALSE(std::holds_alternative<Scatter>(node.node));
  auto arguments = random_arguments(before, seed, {}, 3);
  for (evaluate::Argument& argument : arguments) make_special(std::get<evaluate::Value>(argument), seed);
  const Results expected = evaluate::evaluate(before, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(
      difference(evaluate::evaluate(after, arguments, evaluate::Arithmetic::strict), expected).value_or(""),
      "")
      << graph::print(after);
  const lower::Lowered lowered = fuse::fuse(lower::lower(after)).lowered;
  EXPECT_EQ(lowered.units.size(), 1U) << lower::print(lowered);
  EXPECT_EQ(difference(run_lowered(after, lowered, arguments), expected).value_or(""), "");
}

TEST(ScatterToSelect, KeepsTheBits) {
  for (const Form& form : forms) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i8, DType::b8}) {
      for (const Mode mode : {Mode::replace, Mode::add, Mode::multiply, Mode::least, Mode::greatest}) {
        if (dtype == DType::b8 && (mode == Mode::add || mode == Mode::multiply)) continue;
        for (const bool include_self : {true, false}) {
          SCOPED_TRACE(cat(form.name, ", ", graph::name(mode), " of ", ops::name(dtype),
                           include_self ? "" : " without what was there"));
          Builder b;
          b.output(form.build(b, {dtype, mode, include_self}));
          if (form.rows && mode == Mode::replace) {
            EXPECT_NE(scatter_forms(b.graph())[0].refused, "");
            continue;
          }
          for (unsigned seed = 1; seed < 5; ++seed) expect_a_select(b.graph(), seed);
        }
      }
    }
  }
}

// Whether an index fails in the nests that the graph becomes.
bool nests_fail(const Graph& graph, const std::vector<evaluate::Argument>& arguments) {
  try {
    run_lowered(graph, fuse::fuse(lower::lower(graph)).lowered, arguments);
  } catch (const Bug& bug) {
    EXPECT_NE(std::string(bug.what()).find(" failed"), std::string::npos) << bug.what();
    return true;
  }
  return false;
}

// What a select stands for is checked as the scatter checks it, and the message has the scatter's name.
TEST(ScatterToSelect, AsksForTheIndexAsTheScatterDoes) {
  for (const Form& form : forms) {
    SCOPED_TRACE(form.name);
    Builder b;
    b.origin.name = "written";
    b.output(form.build(b, {DType::f32, Mode::replace, true}));
    const Graph after = scatter_to_select(b.graph());
    for (const std::int64_t value : {-1, 8}) {
      auto arguments = random_arguments(b.graph(), 1, {}, 3);
      for (evaluate::Argument& argument : arguments) {
        auto& array = std::get<evaluate::Value>(argument);
        if (array.dtype == DType::i64 && !array.bytes.empty())
          ops::store_number(DType::i64, value, array.bytes.data() + array.bytes.size() - 8);
      }
      const auto words = [&](const Graph& graph) -> std::string {
        try {
          evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
        } catch (const Error& error) {
          const std::string text = error.what();
          return text.substr(text.find("'written'"), 9) + text.substr(text.find("] is "));
        }
        return "no error";
      };
      EXPECT_EQ(words(after), words(b.graph()));
      EXPECT_EQ(nests_fail(after, arguments), words(b.graph()) != "no error");
    }
  }
}

}  // namespace

}  // namespace twinloom::tests
