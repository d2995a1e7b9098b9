// See near_interpreter.h.
#include "tests/library_calls/near_interpreter.h"

#include <cmath>
#include <memory>
#include <random>

#include "backends/cpu/cpu.h"
#include "core/loops/interpret.h"

namespace twinloom::tests {

namespace {

void expect_near(const loops::Program& nest, const Arrays& given, const Arrays& expected, double most) {
  for (std::size_t b = 0; b < given.size(); ++b)
    for (std::size_t at = 0; at < given[b].size(); ++at)
      ASSERT_TRUE(is_near(given[b][at], expected[b][at], most))
          << nest.buffers[b].name << "[" << at << "]: " << given[b][at] << ", expected " << expected[b][at];
}

}  // namespace

const runtime::Backend& cpu() {
  static const std::unique_ptr<runtime::Backend> backend = cpu::make_cpu({.threads = 2});
  return *backend;
}

std::vector<float> drawn(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> made(count);
  for (float& value : made) value = values(random);
  return made;
}

bool is_near(double a, double b, double most) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= most;
}

std::vector<loops::Memory> memory_of(Arrays& arrays) {
  std::vector<loops::Memory> all;
  for (std::vector<float>& array : arrays)
    all.push_back({array.data(), 0, static_cast<std::int64_t>(array.size())});
  return all;
}

bool run_in_place(const runtime::Kernel& kernel, const loops::InPlace& pair, Arrays& arrays,
                  std::span<const std::int64_t> sizes, runtime::RunSettings settings) {
  const std::vector<float> before = arrays[pair.to.index];
  runtime::Attempt attempt;
  settings.attempt = &attempt;
  const auto run = [&] {
    arrays[pair.to.index] = arrays[pair.from.index];
    std::vector<loops::Memory> memory = memory_of(arrays);
    memory[pair.from.index] = memory[pair.to.index];
    EXPECT_FALSE(kernel.run(memory, sizes, settings));
  };
  run();
  const bool is_lost = attempt.is_lost;
  attempt = {.is_careful = true};
  if (is_lost) run();
  EXPECT_FALSE(attempt.is_lost);
  for (std::size_t at = 0; at < before.size(); ++at)  // what no iteration writes
    if (arrays[pair.to.index][at] == arrays[pair.from.index][at]) arrays[pair.to.index][at] = before[at];
  return is_lost;
}

void expect_near(const std::string& text, double terms, std::vector<std::int64_t> sizes,
                 const Elements& elements) {
  SCOPED_TRACE(text);
  const loops::Program nest = loops::parse(text);
  loops::verify(nest, loops::Stage::program);
  ASSERT_TRUE(cpu().has_library_for(nest));
  const auto kernel = cpu().build(nest).kernel;
  index::Values values;
  for (std::size_t at = 0; at < sizes.size(); ++at) values[nest.sizes[at].symbol] = sizes[at];
  Arrays arrays, expected;
  for (unsigned b = 0; b < nest.buffers.size(); ++b)
    arrays.push_back(drawn(static_cast<std::size_t>(index::evaluate(nest.buffers[b].count, values)), b + 1));
  for (const auto& [at, element] : elements) arrays[0][at] = element;
  expected = arrays;
  EXPECT_FALSE(loops::interpret(nest, memory_of(expected), sizes));
  for (const int threads : {1, 2}) {
    runtime::RunSettings settings;
    settings.threads = threads;
    EXPECT_FALSE(kernel->run(memory_of(arrays), sizes, settings));
    expect_near(nest, arrays, expected, terms * terms * 0x1p-24);
    for (const loops::InPlace& pair : kernel->in_place(sizes)) {
      run_in_place(*kernel, pair, arrays, sizes, settings);
      expect_near(nest, arrays, expected, terms * terms * 0x1p-24);
    }
  }
}

}  // namespace twinloom::tests
