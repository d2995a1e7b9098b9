// See dialect.h.
#include "backends/cuda/dialect.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/emit/emit.h"

namespace twinloom::cuda {

namespace {

// An array has at least one element.
std::size_t at_least_one(std::size_t count) { return std::max<std::size_t>(count, 1); }

std::size_t buffer_count(const loops::Program& program) {
  return static_cast<std::size_t>(
      std::ranges::count_if(program.buffers, [](const loops::BufferInfo& buffer) { return !buffer.local; }));
}

}  // namespace

std::string CudaDialect::before() const {
  return cat("#include \"cuda/routines.h\"\n", DeviceDialect::before());
}

std::string CudaDialect::head(const loops::Program& program) const {
  return cat("struct Given {\n  void* buffers[", at_least_one(buffer_count(program)), "];\n  i64 sizes[",
             at_least_one(program.sizes.size()), "];\n  FailureRecord* failure;\n};\n",
             "extern \"C\" __global__ void __launch_bounds__(", emit::thread_count(program),
             ") kernel(const __grid_constant__ Given given)");
}

std::vector<std::string> CudaDialect::opening(const loops::Program& program) const {
  std::vector<std::string> lines = {"const Given* const arguments = &given;",
                                    "const i64 begin = blockIdx.x, end = begin + 1;"};
  if (emit::thread_count(program) > 1) lines.emplace_back("const i64 thread = threadIdx.x;");
  return lines;
}

std::string CudaDialect::argument(const std::string& type, std::size_t buffer) const {
  if (pointers_ == Pointers::any) return DeviceDialect::argument(type, buffer);
  return cat("static_cast<", type, "*>(__builtin_assume_aligned(arguments->buffers[", buffer, "], ",
             PACKED_BYTES, "))");
}

// Of a pointer that a loop moves on, NVRTC does not see it.
std::string CudaDialect::at_multiple(const std::string& pointer, int lanes) const {
  return pointers_ == Pointers::any ? pointer : cat("packed<", lanes, ">(", pointer, ")");
}

std::string CudaDialect::array(const std::string& type, const std::string& name, const std::string& count,
                               loops::Place place) const {
  return cat(place == loops::Place::scratch ? "__shared__ " : "", type, " ", name, "[", count, "];");
}

// See held().
std::string CudaDialect::loop(const std::string& counter, const std::string& bound) const {
  return cat("for (i64 ", counter, " = 0, end_", counter, " = held(", bound, "); ", counter, " < end_",
             counter, "; ++", counter, ") {");
}

std::vector<void*> given_words(const std::vector<void*>& buffers, const std::vector<std::int64_t>& sizes,
                               void* failure) {
  static_assert(sizeof(void*) == sizeof(std::int64_t));
  std::vector<void*> words(at_least_one(buffers.size()) + at_least_one(sizes.size()) + 1);
  std::ranges::copy(buffers, words.begin());
  for (std::size_t at = 0; at < sizes.size(); ++at)
    words[at_least_one(buffers.size()) + at] = reinterpret_cast<void*>(sizes[at]);
  words.back() = failure;
  return words;
}

}  // namespace twinloom::cuda
