// See compare.h.
#include "tests/backends/compare.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "backends/cpu/cpu.h"
#include "tests/support/memory.h"

namespace twinloom::tests {

namespace {

// Mostly usual numbers, now and then one from the edges of its type.
ops::Number element_of(ops::DType dtype, std::mt19937_64& random) {
  if (random() % 16 != 0) return random_number(dtype, random);
  const double edges[] = {0.0, -0.0, HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-40, -1e-40, 3.5};
  if (ops::is_integer(dtype)) return ops::cast(ops::Number(static_cast<std::int64_t>(random())), dtype);
  return ops::cast(ops::Number(edges[random() % std::size(edges)]), dtype);
}

struct Arguments {
  std::deque<Elements> elements;
  std::vector<runtime::Memory> memory;
};

Arguments arguments_of(const loops::Program& program, const RunPlan& plan, Against side) {
  index::Values values;
  for (std::size_t at = 0; at < program.sizes.size(); ++at)
    values[program.sizes[at].symbol] = plan.sizes.at(at);
  std::mt19937_64 random(plan.seed);
  Arguments arguments;
  for (const loops::BufferInfo& buffer : program.buffers) {
    if (buffer.local) continue;
    const std::int64_t count = index::evaluate(buffer.count, values);
    Elements& elements = arguments.elements.emplace_back(buffer.dtype, count, side);
    const auto given = plan.contents.find(buffer.name);
    elements.fill([&](std::int64_t at) {
      if (given == plan.contents.end()) return element_of(buffer.dtype, random);
      return ops::cast(given->second.at(static_cast<std::size_t>(at)), buffer.dtype);
    });
    arguments.memory.push_back({elements.data(), 0, count});
  }
  return arguments;
}

// Whether a routine leaves there what nobody knows.
bool is_room(const loops::Program& program, std::size_t buffer) {
  const loops::Call* const call = loops::routine_of(program);
  if (call == nullptr) return false;
  const auto among = [&](std::span<const loops::Buffer> buffers) {
    return std::ranges::find(buffers, buffer, &loops::Buffer::index) != buffers.end();
  };
  return among(call->operands) && !among(loops::made_by(*call));
}

Outcome run_and_compare(const loops::Program& program, const runtime::Built& built, const RunPlan& plan,
                        Against side) {
  const Arguments given = arguments_of(program, plan, side);
  const Arguments expected = arguments_of(program, plan, side);
  const auto expected_failure = loops::interpret(program, expected.memory, plan.sizes);
  Outcome outcome;
  outcome.failure =
      built.kernel->run(given.memory, plan.sizes, {.threads = plan.threads, .parallel_for = nullptr});
  EXPECT_EQ(outcome.failure.has_value(), expected_failure.has_value());
  for (std::size_t at = 0; at < given.elements.size(); ++at) {
    const Elements& elements = given.elements[at];
    elements.check();
    if (is_room(program, at)) continue;
    const auto difference = first_difference(elements, expected.elements[at]);
    EXPECT_FALSE(difference.has_value()) << program.buffers[at].name << ": " << *difference << "\n"
                                         << built.source();
    std::vector<ops::Number>& numbers = outcome.buffers[program.buffers[at].name];
    for (std::int64_t i = 0; i < elements.count(); ++i) numbers.push_back(elements.get(i));
  }
  return outcome;
}

// Compiles for the widest registers, whether this CPU has them or not.
const runtime::Backend& widest_compiler() {
  static const auto backend = cpu::make_cpu({.isa = "avx512", .compile_only = true});
  return *backend;
}

}  // namespace

const runtime::Backend& cpu_backend() {
  static const auto backend = cpu::make_cpu({.threads = 2, .worth_a_thread_seconds = 0});
  return *backend;
}

Outcome expect_same(std::string_view text, const RunPlan& plan) {
  const loops::Program program = loops::parse(text);
  loops::verify(program, loops::Stage::program);
  const runtime::Built built = cpu_backend().build(program);
  widest_compiler().build(program);
  run_and_compare(program, built, plan, Against::start);
  return run_and_compare(program, built, plan, Against::end);
}

}  // namespace twinloom::tests
