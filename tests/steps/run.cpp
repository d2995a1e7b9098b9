// See run.h.
#include "tests/steps/run.h"

#include "core/index/expr.h"

namespace twinloom::tests {

std::vector<std::vector<float>> run_on_integers(const loops::Program& program, const index::Values& sizes) {
  constexpr float POISON = -12345.0f;
  std::vector<std::vector<float>> memory;
  std::vector<loops::Memory> arguments;
  for (const loops::BufferInfo& info : program.buffers) {
    if (info.local) continue;
    auto& elements =
        memory.emplace_back(static_cast<std::size_t>(index::evaluate(info.count, sizes)), POISON);
    for (std::size_t i = 0; !info.written && i < elements.size(); ++i)
      elements[i] = static_cast<float>(i * i % 17) - 8.0f;
  }
  for (std::vector<float>& elements : memory)
    arguments.push_back(
        {reinterpret_cast<std::byte*>(elements.data()), 0, static_cast<std::int64_t>(elements.size())});
  std::vector<std::int64_t> values;
  for (const loops::SizeInfo& size : program.sizes) values.push_back(sizes.at(size.symbol));
  loops::interpret(program, arguments, values, {});
  std::vector<std::vector<float>> written;
  for (std::size_t b = 0; b < memory.size(); ++b)
    if (program.buffers[b].written) written.push_back(memory[b]);
  return written;
}

}  // namespace twinloom::tests
