// Many threads compile, load, run and unload at the same time, over one device, one cache and one executable;
// every result has the bits of a run alone. The preset tsan watches (tools/check_threads).
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>

#include "api/package.h"
#include "api/twinloom.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {
namespace {

constexpr int THREADS = 8, ROUNDS = TWINLOOM_SAFETY_ROUNDS;

Graph rows_graph(std::size_t number) {
  Builder builder(cat("rows_", number));
  const Symbol n("n"), m("m");
  const Value x = builder.input("x", DType::f32, {n, m});
  builder.output(graph::softmax(x * (0.5 + static_cast<double>(number)), 1), "softmax");
  builder.output(graph::sum(x, {0}), "columns");
  return builder.take();
}

// Of rows and columns, transposed or not.
struct Shape {
  std::int64_t rows, columns;
  bool transposed;
};
constexpr std::array<Shape, 6> SHAPES = {
    {{5, 7, false}, {7, 5, true}, {1, 64, false}, {33, 40, false}, {2, 300, true}, {0, 3, false}}};

Tensor matrix(const Shape& shape) {
  const std::int64_t row = shape.transposed ? 1 : shape.columns, column = shape.transposed ? shape.rows : 1;
  Tensor tensor = allocate(DType::f32, {shape.rows, shape.columns}, {row, column});
  auto* data = static_cast<float*>(tensor.data);
  for (std::int64_t i = 0; i < shape.rows * shape.columns; ++i)
    data[i] = static_cast<float>((i * 29) % 53) * 0.21f;
  return tensor;
}

// The sanitizer does not see how TBB's threads wait for each other: each thread makes its kernels itself
// there.
CompileOptions compile_options() {
  CompileOptions options;
#ifdef __SANITIZE_THREAD__
  options.build_threads = 1;
#endif
  return options;
}

using Bits = std::vector<std::string>;

// One thread of its own: OpenMP's are not the subject, and the sanitizer does not know their barriers.
Bits run(const Executable& executable, const Shape& shape) {
  RunOptions options;
  options.settings.threads = 1;
  Bits bits;
  for (const Output& output : executable.run(std::vector<Argument>{matrix(shape)}, options)) {
    const Tensor tensor = contiguous(std::get<Tensor>(output));
    bits.emplace_back(static_cast<const char*>(tensor.data),
                      static_cast<std::size_t>(runtime::element_count(tensor) * ops::size_of(tensor.dtype)));
  }
  return bits;
}

class Safety : public testing::Test {
 protected:
  Safety() {
    setenv("TWINLOOM_CACHE_DIR", folder.file("cache").c_str(), 1);
    for (std::size_t g = 0; g < GRAPHS; ++g) {
      graphs.push_back(rows_graph(g));
      ExportOptions exported;
      exported.compile = compile_options();
      export_package(graphs.back(), package(g), exported);
      for (const Shape& shape : SHAPES) wanted[g].push_back(run(compiled(g, cached), shape));
    }
  }
  ~Safety() override { unsetenv("TWINLOOM_CACHE_DIR"); }

  std::string package(std::size_t g) const { return folder.file(cat("rows_", g, ".twinloom")); }

  Executable compiled(std::size_t g, const Device& device) const {
    return compile(graphs[g], device, compile_options());
  }

  // What one thread does in one round.
  void work(std::mt19937& random, const std::vector<Executable>& shared) {
    const std::size_t g = random() % GRAPHS, s = random() % SHAPES.size();
    const auto expect = [&](const Executable& executable) {
      if (run(executable, SHAPES[s]) != wanted[g][s]) ++different;
    };
    switch (random() % 8) {
      case 0:  // compiled anew
        return expect(compiled(g, uncached));
      case 1:  // found in the cache, or stored there by several at once
        return expect(compiled(g, Device::cpu({.isa = "avx2"})));
      case 2:
        return expect(load_package(package(g), cached, {.build_threads = compile_options().build_threads}));
      default:  // an executable of all, to which layouts are new at first
        return expect(shared[g]);
    }
  }

  static constexpr std::size_t GRAPHS = 3;
  ScratchFolder folder;
  Device cached = Device::cpu(), uncached = Device::cpu({.cache = false});
  std::vector<Graph> graphs;
  std::array<std::vector<Bits>, GRAPHS> wanted;
  std::atomic<int> different = 0;
};

TEST_F(Safety, ManyThreadsCompileLoadRunAndUnload) {
  std::vector<Executable> shared;
  for (std::size_t g = 0; g < GRAPHS; ++g) shared.push_back(compiled(g, cached));
  std::vector<std::thread> threads;
  for (int t = 0; t < THREADS; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int round = 0; round < ROUNDS; ++round) work(random, shared);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different, 0);
}

}  // namespace
}  // namespace twinloom::tests
