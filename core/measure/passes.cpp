// See passes.h.
#include "core/measure/passes.h"

#include "core/base/text.h"

namespace twinloom::measure {

namespace {

constexpr int UNROLLED = 4;  // vectors of an iteration, so that counting does not count

std::int64_t lanes_of(const machine::Machine& machine) {
  return machine.vector_bytes / static_cast<int>(sizeof(float));
}

// `body` with @ for the element.
std::string loops_around(std::string body, const machine::Machine& machine) {
  const std::int64_t lanes = lanes_of(machine), each = passed_elements(machine);
  const std::string element = cat(each, "*i + ", lanes, "*u + v");
  for (std::size_t at = 0; (at = body.find('@', at)) != std::string::npos;) body.replace(at, 1, element);
  return cat("for r < rounds { for i < floor_div(elements, ", each, ") { for u < ", UNROLLED,
             " unroll { for v < ", lanes, " vector { ", body, " } } } }");
}

loops::Program program_of(std::string_view arguments, const std::string& body) {
  return loops::parse(cat("program pass(", arguments,
                          "; elements in 0.., rounds in 0..) { for b < 1 block { ", body, " } }"));
}

}  // namespace

std::int64_t passed_elements(const machine::Machine& machine) { return UNROLLED * lanes_of(machine); }

loops::Program cpu_pass(Pass pass, const machine::Machine& machine) {
  switch (pass) {
    case Pass::copy:
      return program_of("x: f32[elements], y: written f32[elements]", loops_around("y[@] = x[@]", machine));
    case Pass::write:
      return program_of("y: written f32[elements]", loops_around("y[@] = 0x1p+0:f32", machine));
    case Pass::stream:
      return program_of("y: written streamed f32[elements]", loops_around("y[@] = 0x1p+0:f32", machine));
    case Pass::read:
      return program_of("x: i32[elements], y: written i32[1]",
                        cat("start t0: sum i32 copies (u, v) ", loops_around("merge t0 (x[@])", machine),
                            " combine t0 across u halves combine t0 across v halves y[0] = t0"));
  }
  return {};
}

loops::Program cpu_arithmetic(const machine::Machine& machine) {
  std::string value = "x[@]";
  for (int at = 0; at < ARITHMETIC / 2; ++at) value = cat("add(mul(", value, ", 0x1p-1:f32), 0x1p+0:f32)");
  return program_of("x: f32[elements], y: written f32[elements]",
                    loops_around(cat("y[@] = ", value), machine));
}

loops::Program cpu_tasks() {
  return loops::parse(R"(program tasks(y: written f32[elements]; elements in 0.., rounds in 0..) {
    for b < elements block { y[b] = 0x0p+0:f32 }
  })");
}

}  // namespace twinloom::measure
