// Variants that are kept on disk: a later executable finds what an earlier one planned, and the same kernels.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "backends/cpu/cpu.h"
#include "core/base/log.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/loops/loops.h"
#include "core/pipeline/pipeline.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

using graph::Graph;
using runtime::Argument;
using runtime::Executable;
using runtime::Tensor;

// Softmax of rows, with an array of the graph added.
Graph rows_graph(float first = 0.5f) {
  graph::Builder builder("rows");
  const index::Symbol n("n"), m("m");
  const graph::Tensor x = builder.input("x", ops::DType::f32, {n, m});
  const std::array<float, 4> weights = {first, 1.5f, 2.5f, 3.5f};
  const auto bytes = std::as_bytes(std::span(weights));
  const graph::Tensor table =
      builder.constant({ops::DType::f32, {4, 1, 1}, std::vector(bytes.begin(), bytes.end())});
  builder.output(graph::softmax(x, 1) + table, "y");
  return builder.take();
}

std::vector<Argument> matrix(std::int64_t rows, std::int64_t columns) {
  Tensor tensor = runtime::allocate(ops::DType::f32, {rows, columns});
  auto* data = static_cast<float*>(tensor.data);
  for (std::int64_t i = 0; i < rows * columns; ++i) data[i] = static_cast<float>((i * 37) % 101) * 0.07f;
  return {tensor};
}

std::string steps_of(const runtime::Variant& variant) {
  std::string text;
  for (const runtime::Step& step : variant.steps)
    text += cat(loops::print(step.program), step.schedule, step.source(), step.unit, "\n");
  for (const runtime::Group& group : variant.groups) text += cat(group.name, loops::print(group.nest));
  return text;
}

// What these logs say as long as it lives.
class Logged {
 public:
  explicit Logged(std::string_view logs) {
    logging::set(logs, [this](Log, std::string_view text) { words_ += cat(text, "\n"); });
  }
  ~Logged() { logging::set(""); }
  Logged(const Logged&) = delete;
  Logged& operator=(const Logged&) = delete;
  const std::string& words() const { return words_; }

 private:
  std::string words_;
};

class KeptVariants : public testing::Test {
 protected:
  Executable compiled(const Graph& graph, pipeline::Options options = {}) const {
    options.cache = cache;
    return pipeline::compile(graph, cpu::make_cpu({.isa = "avx2", .threads = 2, .cache = cache}), options);
  }
  // Whether a new executable, as another process would have it, found what it needs for these arguments.
  bool is_found(const Graph& graph, const std::vector<Argument>& arguments,
                const pipeline::Options& options = {}) {
    const Logged logged("cache");
    compiled(graph, options).variant(arguments);
    return logged.words().find("graph rows (cpu avx2): stored") == std::string::npos;
  }
  std::size_t count() const {
    std::size_t graphs = 0;
    for (const object_cache::Entry& entry : cache->entries())
      graphs += !object_cache::text_of(entry.key, object_cache::graph_field).empty();
    return graphs;
  }

  TestFolder folder;
  std::shared_ptr<const object_cache::ObjectCache> cache =
      std::make_shared<const object_cache::ObjectCache>(folder.options());
};

TEST_F(KeptVariants, ServeALaterExecutable) {
  const auto arguments = matrix(5, 70);
  const Executable first = compiled(rows_graph());
  const auto wanted = std::get<Tensor>(first.run(arguments).front());
  EXPECT_EQ(count(), 1u);
  EXPECT_TRUE(is_found(rows_graph(), arguments));
  const Executable later = compiled(rows_graph());
  const auto given = std::get<Tensor>(later.run(arguments).front());
  EXPECT_EQ(steps_of(*later.variant(arguments)), steps_of(*first.variant(arguments)));
  EXPECT_EQ(later.variant(arguments)->sizes.questions, first.variant(arguments)->sizes.questions);
  ASSERT_EQ(runtime::element_count(given), 4 * 5 * 70);
  EXPECT_EQ(std::memcmp(given.data, wanted.data, 4 * 5 * 70 * sizeof(float)), 0);
  EXPECT_EQ(count(), 1u);
}

TEST_F(KeptVariants, AreOfTheirGraphArraysLayoutsAndOptions) {
  const auto arguments = matrix(5, 70);
  EXPECT_FALSE(is_found(rows_graph(), arguments));
  EXPECT_FALSE(is_found(rows_graph(0.25f), arguments));
  EXPECT_FALSE(is_found(rows_graph(), arguments, {.mode = pipeline::Mode::strict}));
  EXPECT_FALSE(is_found(rows_graph(), arguments, {.fuse = false}));
  EXPECT_FALSE(is_found(rows_graph(), arguments, {.donated = {"x"}}));
  std::vector<Argument> transposed = matrix(70, 5);
  auto& tensor = std::get<Tensor>(transposed.front());
  std::swap(tensor.sizes[0], tensor.sizes[1]);
  std::swap(tensor.strides[0], tensor.strides[1]);
  EXPECT_FALSE(is_found(rows_graph(), transposed));
  EXPECT_TRUE(is_found(rows_graph(), arguments));
  EXPECT_TRUE(is_found(rows_graph(), transposed));
}

// What passes compute from arrays of a graph is kept with the variant.
TEST_F(KeptVariants, HaveTheArraysThatPassesMade) {
  const auto scaled = [] {
    graph::Builder builder("rows");
    const std::array<float, 4> weights = {0.5f, 1.5f, 2.5f, 3.5f};
    const auto bytes = std::as_bytes(std::span(weights));
    const graph::Tensor table =
        builder.constant({ops::DType::f32, {4}, std::vector(bytes.begin(), bytes.end())});
    builder.output(builder.input("x", ops::DType::f32, {3, 4}) * graph::sqrt(table + 1), "y");
    return builder.take();
  };
  const auto arguments = matrix(3, 4);
  const auto wanted = std::get<Tensor>(compiled(scaled()).run(arguments).front());
  EXPECT_TRUE(is_found(scaled(), arguments));
  const auto given = std::get<Tensor>(compiled(scaled()).run(arguments).front());
  EXPECT_EQ(std::memcmp(given.data, wanted.data, 12 * sizeof(float)), 0);
}

TEST_F(KeptVariants, AreOfTheirClassOfSizes) {
  EXPECT_FALSE(is_found(rows_graph(), matrix(5, 70)));
  EXPECT_FALSE(is_found(rows_graph(), matrix(5, 4096)));
  EXPECT_FALSE(is_found(rows_graph(), matrix(0, 70)));
  EXPECT_TRUE(is_found(rows_graph(), matrix(5, 4096)));
  EXPECT_TRUE(is_found(rows_graph(), matrix(6, 70)));
  EXPECT_EQ(count(), 3u);
}

TEST_F(KeptVariants, ThatAreDamagedAreMadeAgain) {
  const auto arguments = matrix(5, 70);
  compiled(rows_graph()).variant(arguments);
  object_cache::Key key;
  for (const object_cache::Entry& entry : cache->entries())
    if (!object_cache::text_of(entry.key, object_cache::graph_field).empty()) key = entry.key;
  const std::string whole = *cache->find(key);
  const std::string first_line = whole.substr(0, whole.find('\n') + 1);
  for (const std::string& planted : {std::string(), std::string("no text"), first_line, first_line + "{}",
                                     whole.substr(0, whole.size() / 2)}) {
    cache->remove(key);
    cache->store(key, planted);
    compiled(rows_graph()).run(arguments);
    EXPECT_EQ(*cache->find(key), whole) << "healed";
  }
}

TEST_F(KeptVariants, AreFoundByWhoListensAndPassedByForLogsOfPasses) {
  const auto arguments = matrix(5, 70);
  compiled(rows_graph()).variant(arguments);
  std::vector<std::string> passes;
  const auto listen = [&](const pipeline::Progress& said) { passes.emplace_back(said.pass); };
  compiled(rows_graph(), {.progress = listen}).variant(arguments);
  ASSERT_FALSE(passes.empty());  // the program always listens, and is to start warm
  for (const std::string& pass : passes) EXPECT_EQ(pass, "build");
  const Logged logged("schedule");
  compiled(rows_graph()).variant(arguments);
  EXPECT_FALSE(logged.words().empty());
}

TEST_F(KeptVariants, OfOtherSchedulesAreNone) {
  compiled(rows_graph(),
           {.schedule = [](const loops::Program&) { return std::optional<schedule::Schedule>(); }})
      .variant(matrix(5, 70));
  std::filesystem::create_directory(folder.path() / "schedules");
  compiled(rows_graph(), {.tuning = {.folder = folder.path() / "schedules"}}).variant(matrix(5, 70));
  EXPECT_EQ(count(), 0u);
}

}  // namespace
}  // namespace twinloom::tests
