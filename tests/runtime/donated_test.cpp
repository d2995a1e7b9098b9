// Inputs whose memory results take: the same bits, at the input's address, with no memory taken; and where
// that cannot be, the input as it was.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "api/explain.h"
#include "api/twinloom.h"
#include "core/evaluate/evaluate.h"
#include "core/machine/gpu.h"
#include "core/runtime/memory_pool.h"
#include "tests/support/programs/program_interpreter.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

Device cpu() { return Device::cpu({.cache = false}); }
std::vector<Device> all_devices() {
  return {cpu(), Device::reference(), Device::of(sealed_device(Device::reference().share()))};
}

using Numbers = std::vector<float>;

Numbers numbers_in(const Tensor& given, const Device& device) {
  const Tensor tensor = contiguous(device.download(given));
  const auto* data = static_cast<const float*>(tensor.data);
  return {data, data + runtime::element_count(tensor)};
}
void* address(const Output& output) { return std::get<Tensor>(output).data; }

// Memory that each run takes: how often, and poisoned, so that what is not written shows.
struct Counted {
  int taken = 0;
  RunOptions options;
  Counted() {
    options.allocate = [this](std::int64_t bytes, Stream) {
      ++taken;
      std::shared_ptr<std::byte> memory = runtime::new_block(bytes);
      std::memset(memory.get(), 0xa5, static_cast<std::size_t>(bytes));
      return memory;
    };
  }
};

// y = 2 x + w; x is donated.
Graph line() {
  Builder builder("line");
  const Value x = builder.input("x", DType::f32, {Symbol("n"), 3}, true);
  const Value w = builder.input("w", DType::f32, {3});
  builder.output(x * 2 + w, "y");
  return builder.take();
}

struct Line {
  Numbers x{1, 2, 3, 4, 5, 6}, w{10, 20, 30};
  std::vector<Argument> on(const Device& device) {
    return {device.upload(view_of(x.data(), DType::f32, {2, 3})),
            device.upload(view_of(w.data(), DType::f32, {3}))};
  }
};
const Numbers LINE = {12, 24, 36, 18, 30, 42};

TEST(Donated, ResultsTakeTheMemory) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(line(), device);
    Line given;
    const auto arguments = given.on(device);
    EXPECT_EQ(executable.peak_bytes(arguments), 0);
    const auto reuses = executable.reuses(arguments);
    ASSERT_EQ(reuses.size(), 1u);
    EXPECT_EQ(reuses[0].result, 0u);
    EXPECT_EQ(reuses[0].parameter, 0);
    EXPECT_EQ(reuses[0].bytes, 24);
    const auto outputs = executable.run(arguments);
    EXPECT_EQ(address(outputs[0]), std::get<Tensor>(arguments[0]).data);
    EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), device), LINE);
  }
}

TEST(Donated, TakeNoMemoryOfTheRun) {
  Counted counted;
  const Executable executable = compile(line(), cpu());
  Line given;
  const auto arguments = given.on(cpu());
  executable.run(arguments, counted.options);
  EXPECT_EQ(counted.taken, 0);
  EXPECT_EQ(given.x, LINE) << "the caller's own memory";
  counted.options.keep_donated = true;
  const auto outputs = executable.run(arguments, counted.options);
  EXPECT_EQ(counted.taken, 1);
  EXPECT_EQ(given.x, LINE) << "which the second run was to keep";
  EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), cpu()), (Numbers{34, 68, 102, 46, 80, 114}));
}

// Who hands in a tensor for each result may hand in the memory that reuses() names, and nothing else of the
// argument's.
TEST(Donated, MayBeTheCallersTensorForTheResult) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    const Executable executable = compile(line(), device);
    Line given;
    const auto arguments = given.on(device);
    const Tensor x = std::get<Tensor>(arguments[0]);
    RunOptions keeping;
    keeping.keep_donated = true;
    const auto overlaps = [&](const RunOptions& options, const Tensor& output) {
      return words_of<Error>([&] { executable.run(arguments, options, std::array{output}); });
    };
    EXPECT_EQ(overlaps(keeping, x), "output 0 overlaps parameter 'x' in memory");
    Tensor other = x;
    std::swap(other.sizes[0], other.sizes[1]);
    std::swap(other.strides[0], other.strides[1]);
    EXPECT_NE(overlaps({}, other), "");
    EXPECT_EQ(numbers_in(x, device), Line().x) << "as it was";
    const auto outputs = executable.run(arguments, {}, std::array{x});
    EXPECT_EQ(address(outputs[0]), x.data);
    EXPECT_EQ(numbers_in(x, device), LINE);
  }
}

// The stride of an axis of size 1 says nothing.
TEST(Donated, MayBeTheCallersTensorWithAnotherStrideOfOneRow) {
  Builder builder("row");
  builder.output(builder.input("x", DType::f32, {1, 6}, true) * 2);
  const Executable executable = compile(builder.take(), cpu());
  Line given;
  const Tensor x = view_of(given.x.data(), DType::f32, {1, 6});
  for (const std::int64_t stride : {1, 6, 100}) {
    Tensor output = x;
    output.strides[0] = stride;
    executable.run(std::vector<Argument>{x}, {}, std::array{output});
  }
  EXPECT_EQ(given.x, (Numbers{8, 16, 24, 32, 40, 48}));
}

// The memory lives as long as who owned the argument says.
TEST(Donated, ResultsKeepTheOwner) {
  const Executable executable = compile(line(), cpu());
  Tensor x = allocate(DType::f32, {2, 3});
  Numbers w{10, 20, 30};
  std::memset(x.data, 0, 24);
  const std::weak_ptr<void> owner = x.owner;
  auto outputs = executable.run(std::vector<Argument>{x, view_of(w.data(), DType::f32, {3})});
  x = {};
  EXPECT_FALSE(owner.expired());
  EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), cpu()), (Numbers{10, 20, 30, 10, 20, 30}));
  outputs.clear();
  EXPECT_TRUE(owner.expired());
}

// Overlapping arguments, gaps, and a caller's own tensor for the result: the input is left alone.
TEST(Donated, KeepWhatTheyHoldWhereTheyCannotBeTaken) {
  Builder builder("sum");
  const Value a = builder.input("a", DType::f32, {4}, true), b = builder.input("b", DType::f32, {4});
  builder.output(a + b);
  const Executable executable = compile(builder.take(), cpu());
  Numbers memory{1, 2, 3, 4, 5, 6, 7, 8};
  const Numbers before = memory;
  const auto expect_kept = [&](const Tensor& first, const Tensor& second, const Numbers& sum) {
    const std::vector<Argument> arguments{first, second};
    EXPECT_TRUE(executable.reuses(arguments).empty());
    EXPECT_EQ(executable.peak_bytes(arguments), 16);
    const auto outputs = executable.run(arguments);
    EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), cpu()), sum);
    EXPECT_EQ(memory, before);
  };
  const Tensor low = view_of(memory.data(), DType::f32, {4});
  expect_kept(low, low, {2, 4, 6, 8});
  expect_kept(low, view_of(memory.data() + 3, DType::f32, {4}), {5, 7, 9, 11});
  expect_kept(view_of(memory.data(), DType::f32, {4}, {2}), view_of(memory.data() + 1, DType::f32, {4}, {2}),
              {3, 7, 11, 15});
  expect_kept(view_of(memory.data() + 3, DType::f32, {4}, {-1}), view_of(memory.data() + 4, DType::f32, {4}),
              {9, 9, 9, 9});
  Numbers own(4);
  const std::vector<Argument> apart{low, view_of(memory.data() + 4, DType::f32, {4})};
  executable.run(apart, {}, std::vector<Tensor>{view_of(own.data(), DType::f32, {4})});
  EXPECT_EQ(own, (Numbers{6, 8, 10, 12}));
  EXPECT_EQ(memory, before);
  executable.run(apart);
  EXPECT_EQ(memory, (Numbers{6, 8, 10, 12, 5, 6, 7, 8}));
}

// A result that is a view of the input needs what it holds.
TEST(Donated, NotWhereAResultIsAViewOfThem) {
  Builder builder("views");
  const Value x = builder.input("x", DType::f32, {3}, true);
  builder.output(x + 1);
  builder.output_of_input(x, 0);
  const Executable executable = compile(builder.take(), cpu());
  Numbers x_numbers{1, 2, 3};
  const auto outputs = executable.run(std::vector<Argument>{view_of(x_numbers.data(), DType::f32, {3})});
  EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), cpu()), (Numbers{2, 3, 4}));
  EXPECT_EQ(x_numbers, (Numbers{1, 2, 3}));
}

// Element i is written before element n - 1 - i is read, where there are more than registers hold.
TEST(Donated, NotWhereElementsChangePlaces) {
  constexpr std::size_t MANY = 70000;
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    Builder builder("turned");
    builder.output(graph::flip(builder.input("x", DType::f32, {SizeExpr(std::int64_t{MANY})}, true), {0}) *
                   2);
    const Executable executable = compile(builder.take(), device);
    Numbers numbers(MANY), turned(MANY);
    for (std::size_t i = 0; i < MANY; ++i) {
      numbers[i] = static_cast<float>(i);
      turned[MANY - 1 - i] = 2 * numbers[i];
    }
    const Numbers before = numbers;
    const std::vector<Argument> arguments{
        device.upload(view_of(numbers.data(), DType::f32, {std::int64_t{MANY}}))};
    const auto outputs = executable.run(arguments);
    EXPECT_EQ(numbers_in(std::get<Tensor>(outputs[0]), device), turned);
    EXPECT_EQ(numbers_in(std::get<Tensor>(arguments[0]), device), before);
  }
}

// One kernel reads x, a later one writes a result of another type and shape into its memory.
TEST(Donated, OfAnotherTypeAndShapeWhereAnEarlierKernelReadsThem) {
  for (const Device& device : all_devices()) {
    SCOPED_TRACE(device.backend().name());
    Builder builder("later");
    const Value x = builder.input("x", DType::f32, {4, 6}, true);
    const Value sums = graph::realize(graph::sum(x, {1}));
    builder.output(graph::cast(graph::expand(graph::reshape(sums, {1, 4}), {6, 4}), DType::i32));
    const Executable executable = compile(builder.take(), device);
    Numbers numbers(24, 1);
    const std::vector<Argument> arguments{device.upload(view_of(numbers.data(), DType::f32, {4, 6}))};
    EXPECT_EQ(executable.reuses(arguments).size(), 1u);
    const auto outputs = executable.run(arguments);
    EXPECT_EQ(address(outputs[0]), std::get<Tensor>(arguments[0]).data);
    const Tensor result = device.download(std::get<Tensor>(outputs[0]));
    for (int i = 0; i < 24; ++i) EXPECT_EQ(static_cast<const std::int32_t*>(result.data)[i], 6);
  }
}

// What the graph writes is written by the kernel, not copied.
TEST(Donated, WrittenParametersAreWrittenInPlace) {
  Builder builder("step");
  const Value x = builder.input("x", DType::f32, {4}), by = builder.input("by", DType::f32, {4});
  builder.output_written(x - by, 0);
  const Executable executable = compile(builder.take(), cpu());
  Numbers x_numbers{1, 2, 3, 4}, by_numbers{1, 1, 1, 1};
  Counted counted;
  executable.run(std::vector<Argument>{view_of(x_numbers.data(), DType::f32, {4}),
                                       view_of(by_numbers.data(), DType::f32, {4})},
                 counted.options);
  EXPECT_EQ(counted.taken, 0);
  EXPECT_EQ(x_numbers, (Numbers{0, 1, 2, 3}));
}

TEST(Donated, AreNamedWhenTheGraphIsCompiled) {
  Builder builder("named");
  const Value x = builder.input("x", DType::f32, {4});
  builder.output(x * 3, "y");
  const Graph graph = builder.take();
  const CompileOptions options{.donated = {"x"}};
  const Executable executable = compile(graph, cpu(), options);
  Numbers numbers{1, 2, 3, 4};
  const std::vector<Argument> arguments{view_of(numbers.data(), DType::f32, {4})};
  const Explanation explanation = explain(executable, arguments, cpu(), options);
  EXPECT_NE(json_of(explanation).find(R"("reuses":[{"bytes":16,"input":"x","name":"y","result":0}])"),
            std::string::npos)
      << json_of(explanation);
  executable.run(arguments);
  EXPECT_EQ(numbers, (Numbers{3, 6, 9, 12}));
  EXPECT_EQ(words_of<Error>([&] { compile(graph, cpu(), {.donated = {"z"}}); }),
            "donated input 'z': the graph has no parameter of this name; it has 'x'");
  Builder sized("sized");
  const Value v = sized.input("v", DType::f32, {Symbol("s")});
  sized.output(v * 2);
  Graph with_size = sized.take();
  with_size.size_parameter("s", Symbol("s"));
  EXPECT_EQ(words_of<Error>([&] { compile(with_size, cpu(), {.donated = {"s"}}); }),
            "donated input 's' is a size, no tensor");
}

class Random {
 public:
  explicit Random(unsigned seed) : draw_(seed) {}
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(draw_); }
  float number() { return std::uniform_real_distribution<float>(-2, 2)(draw_); }

  Value step(const Value& a, const Value& b) {
    switch (below(8)) {
      case 0:
        return a + b;
      case 1:
        return a * b;
      case 2:
        return graph::tanh(a) - b;
      case 3:
        return graph::flip(a, {below(2)}) + b;
      case 4:
        return a - graph::sum(b, {1}, true);
      case 5:
        return graph::cumsum(a, below(2)) * b;
      case 6:
        return graph::realize(a) + b;
      default:
        return graph::roll(a, {1}, {1}) + b;
    }
  }

  // Some inputs are donated, some are written.
  Graph graph(std::int64_t rows, std::int64_t columns) {
    Builder builder("random");
    std::vector<Value> values;
    const int inputs = 1 + below(4);
    for (int i = 0; i < inputs; ++i)
      values.push_back(builder.input(cat("in", i), DType::f32, {rows, columns}, below(3) != 0));
    const auto any = [&] { return values[static_cast<std::size_t>(below(static_cast<int>(values.size())))]; };
    for (int steps = 1 + below(5); steps > 0; --steps) values.push_back(step(any(), any()));
    if (below(3) == 0) builder.output_written(values.back(), below(inputs));
    for (int results = 1 + below(3); results > 0; --results) builder.output(any());
    return builder.take();
  }

 private:
  std::mt19937 draw_;
};

evaluate::Value array_of(const Tensor& tensor) {
  const auto* bytes = static_cast<const std::byte*>(tensor.data);
  return {tensor.dtype, tensor.sizes, {bytes, bytes + runtime::element_count(tensor) * 4}};
}

// The results are what the evaluator says, and so are the parameters that are written.
void expect_same(const Graph& graph, const Executable& executable, Random& random, std::int64_t rows,
                 std::int64_t columns, int& taken) {
  std::vector<Argument> arguments;
  std::vector<evaluate::Argument> given;
  for (std::size_t p = 0; p < graph.parameters().size(); ++p) {
    const Tensor tensor = allocate(DType::f32, {rows, columns});
    for (std::int64_t e = 0; e < rows * columns; ++e) static_cast<float*>(tensor.data)[e] = random.number();
    arguments.emplace_back(tensor);
    given.emplace_back(array_of(tensor));
  }
  const auto wanted = evaluate::evaluate(graph, given, evaluate::Arithmetic::strict);
  taken += static_cast<int>(executable.reuses(arguments).size());
  Counted counted;
  const auto outputs = executable.run(arguments, counted.options);
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    // An input that is returned, and written too, holds what was written.
    const graph::Result& result = graph.results()[r];
    const bool rewritten = result.kind == graph::Ownership::input &&
                           std::ranges::any_of(graph.results(), [&](const graph::Result& other) {
                             return other.kind == graph::Ownership::written && other.input == result.input;
                           });
    if (!rewritten) {
      EXPECT_EQ(array_of(contiguous(std::get<Tensor>(outputs[r]))).bytes, wanted[r]->bytes) << "result " << r;
    }
  }
}

TEST(Donated, RandomGraphsGiveTheBitsOfTheEvaluator) {
  int taken = 0;
  // Programs of a GPU, whose threads come in both orders.
  const Device threads = Device::of(interpreter_of_programs(machine::h200()));
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(cat("seed ", seed));
    Random random(seed);
    const bool large = seed % 10 == 0;
    const std::int64_t rows = large ? 310 : 1 + random.below(9);
    const std::int64_t columns = large ? 701 : 1 + random.below(40);
    const Graph graph = random.graph(rows, columns);
    for (const bool fuse : {true, false}) {
      const CompileOptions options{.mode = Mode::strict, .fuse = fuse};
      expect_same(graph, compile(graph, cpu(), options), random, rows, columns, taken);
      if (large) continue;
      expect_same(graph, compile(graph, Device::reference(), options), random, rows, columns, taken);
      expect_same(graph, compile(graph, threads, options), random, rows, columns, taken);
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(taken, 40) << "the graphs say little of memory that is taken";
}

}  // namespace

}  // namespace twinloom::tests
