// See run.h.
#include "tests/steps/run.h"

#include <bit>
#include <cmath>

#include "core/index/expr.h"

namespace twinloom::tests {

namespace {

float element(Data data, std::size_t at) {
  const std::uint32_t hash =
      static_cast<std::uint32_t>(at * 2654435761u) ^ static_cast<std::uint32_t>(at >> 3);
  if (data == Data::integers) return static_cast<float>(at * at % 17) - 8.0f;
  if (data == Data::negative_zeros || hash % 61 == 0) return -0.0f;
  return std::ldexp(static_cast<float>(hash % 20001) - 10000.0f, static_cast<int>(hash % 13) - 20);
}

}  // namespace

std::vector<std::vector<std::uint32_t>> run_on(Data data, const loops::Program& program,
                                               const index::Values& sizes, const loops::Order& order) {
  constexpr float POISON = -12345.0f;
  std::vector<std::vector<float>> memory;
  std::vector<loops::Memory> arguments;
  for (const loops::BufferInfo& info : program.buffers) {
    if (info.local) continue;
    auto& elements =
        memory.emplace_back(static_cast<std::size_t>(index::evaluate(info.count, sizes)), POISON);
    for (std::size_t i = 0; !info.written && i < elements.size(); ++i) elements[i] = element(data, i);
  }
  for (std::vector<float>& elements : memory)
    arguments.push_back(
        {reinterpret_cast<std::byte*>(elements.data()), 0, static_cast<std::int64_t>(elements.size())});
  std::vector<std::int64_t> values;
  for (const loops::SizeInfo& size : program.sizes) values.push_back(sizes.at(size.symbol));
  loops::interpret(program, arguments, values, order);
  std::vector<std::vector<std::uint32_t>> written;
  for (std::size_t b = 0; b < memory.size(); ++b) {
    if (!program.buffers[b].written) continue;
    auto& bits = written.emplace_back();
    for (const float value : memory[b])
      bits.push_back(std::bit_cast<std::uint32_t>(std::isnan(value) ? std::nanf("") : value));
  }
  return written;
}

}  // namespace twinloom::tests
