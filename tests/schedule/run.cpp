// See run.h.
#include "tests/schedule/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/loops/rewrite.h"
#include "core/machine/gpu.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t SLACK = 64;  // elements before the first, for offsets that run backwards
constexpr std::byte POISON{0xcd};

std::size_t bytes_of(const loops::BufferInfo& info, const Sizes& sizes) {
  const std::int64_t count = index::evaluate(info.count, sizes) + SLACK;
  return static_cast<std::size_t>(count * ops::size_of(info.dtype));
}

ops::Number random_number(ops::DType dtype, std::mt19937_64& random) {
  if (!ops::is_floating(dtype))
    return ops::cast(ops::Number(static_cast<std::int64_t>(random() % 200) - 100), dtype);
  const double large = std::ldexp(1.0, static_cast<int>(random() % 24) - 12);
  const double value = (static_cast<double>(random() % 2000001) - 1e6) * 1e-6 * large;
  return ops::cast(ops::Number(random() % 97 == 0 ? -0.0 : value), dtype);
}

std::vector<std::byte> filled(const loops::BufferInfo& info, const Sizes& sizes, std::mt19937_64& random) {
  std::vector<std::byte> data(bytes_of(info, sizes), POISON);
  const auto size = static_cast<std::size_t>(ops::size_of(info.dtype));
  if (info.written) return data;
  for (std::size_t at = 0; at + size <= data.size(); at += size) {
    ops::store_number(info.dtype, random_number(info.dtype, random), &data[at]);
  }
  return data;
}

// NaNs of any sign and payload become one.
void unify_nans(ops::DType dtype, std::vector<std::byte>& data) {
  if (!ops::is_floating(dtype)) return;
  const auto size = static_cast<std::size_t>(ops::size_of(dtype));
  for (std::size_t at = 0; at + size <= data.size(); at += size) {
    const ops::Number number = ops::load_number(dtype, &data[at]);
    if (std::isnan(number.real()))
      ops::store_number(dtype, ops::cast(ops::Number(std::nan("")), dtype), &data[at]);
  }
}

}  // namespace

loops::Program with_constants(const loops::Program& nest, const Sizes& sizes) {
  loops::Program result = nest;
  index::Substitution substitution;
  for (const auto& [symbol, value] : sizes) substitution.emplace(symbol, index::Expr(value));
  result.body = loops::substitute(nest.body, substitution);
  for (loops::BufferInfo& info : result.buffers) info.count = index::substitute(info.count, substitution);
  result.sizes.clear();
  return result;
}

Arguments::Arguments(const loops::Program& nest, const Sizes& sizes) : sizes_(sizes) {
  std::mt19937_64 random(7);
  for (const loops::BufferInfo& info : nest.buffers) initial_.push_back(filled(info, sizes, random));
}

std::vector<std::vector<std::byte>> Arguments::run(const std::vector<loops::Program>& programs,
                                                   const loops::Order& order) const {
  std::vector<std::vector<std::byte>> data = initial_;
  std::vector<std::vector<std::byte>> outputs;
  for (const loops::Program& program : programs) {
    std::vector<loops::Memory> memory;
    std::size_t number = 0;
    for (const loops::BufferInfo& info : program.buffers) {
      if (info.local) continue;
      if (number == data.size()) data.emplace_back(bytes_of(info, sizes_), POISON);
      const std::int64_t count = index::evaluate(info.count, sizes_);
      memory.push_back({data[number++].data() + SLACK * ops::size_of(info.dtype), -SLACK, count});
    }
    std::vector<std::int64_t> values;
    for (const loops::SizeInfo& size : program.sizes) values.push_back(sizes_.at(size.symbol));
    loops::interpret(program, memory, values, order);
  }
  for (std::size_t i = 0; i < initial_.size(); ++i) {
    const loops::BufferInfo& info = programs.front().buffers[i];
    if (!info.written) continue;
    unify_nans(info.dtype, data[i]);
    outputs.push_back(data[i]);
  }
  return outputs;
}

std::vector<machine::Machine> machines() {
  machine::Machine avx2;
  avx2.name = "cpu-avx2";
  avx2.blocks_at_once = 2;
  avx2.memory = {{"memory", 0, 1e10}};
  machine::Machine avx512 = avx2;
  avx512.name = "cpu-avx512";
  avx512.vector_bytes = 64;
  avx512.vector_registers = 32;
  avx512.blocks_at_once = 16;
  machine::Machine scalar = avx2;
  scalar.name = "scalar";
  scalar.vector_bytes = 4;
  scalar.blocks_at_once = 1;
  return {avx2, avx512, scalar, machine::h200()};
}

}  // namespace twinloom::tests
