// See program_interpreter.h.
#include "tests/support/programs/program_interpreter.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/error.h"
#include "core/loops/epilogue.h"
#include "core/loops/rewrite.h"

namespace twinloom::tests {

namespace {

using runtime::Failure;
using runtime::Memory;

bool has_threads(const loops::Program& program) {
  bool found = false;
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    const auto* loop = std::get_if<loops::Loop>(&stmt.node);
    found = found || (loop != nullptr && loop->bind == loops::Bind::thread);
  });
  return found;
}

// The bytes that an argument may touch.
std::span<std::byte> bytes_of(const Memory& memory, ops::DType dtype) {
  const std::int64_t size = ops::size_of(dtype);
  return {static_cast<std::byte*>(memory.data) + memory.first * size,
          static_cast<std::size_t>((memory.last - memory.first) * size)};
}

class Interpreted final : public runtime::Kernel {
 public:
  explicit Interpreted(loops::Program program)
      : program_(std::move(program)), twice_(has_threads(program_)) {}

  std::optional<Failure> run(std::span<const Memory> arguments, std::span<const std::int64_t> sizes,
                             const runtime::RunSettings&) const override {
    const loops::Order backwards = {.reversed_blocks = true, .reversed_threads = true};
    if (!twice_) return loops::interpret(program_, arguments, sizes, backwards);
    const Written before = written(arguments);
    const auto failure = loops::interpret(program_, arguments, sizes, {.reversed_blocks = true});
    const Written after = written(arguments);
    put_back(arguments, before);
    const auto again = loops::interpret(program_, arguments, sizes, backwards);
    CHECK(failure.has_value() == again.has_value(), program_.name, " fails in one order of its threads");
    CHECK(written(arguments) == after, program_.name, " depends on the order of its threads");
    return failure;
  }

 private:
  using Written =
      std::vector<std::vector<std::byte>>;  // one an argument; of those that are only read: nothing

  Written written(std::span<const Memory> arguments) const {
    Written all(arguments.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
      const loops::BufferInfo& info = program_.buffers[at];
      if (!info.written) continue;
      const std::span<const std::byte> bytes = bytes_of(arguments[at], info.dtype);
      all[at].assign(bytes.begin(), bytes.end());
    }
    return all;
  }

  void put_back(std::span<const Memory> arguments, const Written& all) const {
    for (std::size_t at = 0; at < all.size(); ++at)
      std::ranges::copy(all[at], bytes_of(arguments[at], program_.buffers[at].dtype).begin());
  }

  loops::Program program_;
  bool twice_;
};

class ProgramInterpreter final : public runtime::Backend {
 public:
  ProgramInterpreter(machine::Machine machine, std::function<void(const loops::Program&)> look)
      : machine_(std::move(machine)), look_(std::move(look)) {}
  std::string name() const override { return "programs"; }
  std::string describe() const override { return "interprets scheduled programs"; }
  const machine::Machine& machine() const override { return machine_; }
  bool has_library_for(const loops::Program& nest) const override {
    return machine_.library_rate > 0 && loops::contraction_call_of(nest).has_value();
  }
  runtime::Built build(const loops::Program& program) const override {
    if (look_) look_(program);
    return {std::make_unique<const Interpreted>(program), {}, 0};
  }

 private:
  machine::Machine machine_;
  std::function<void(const loops::Program&)> look_;
};

}  // namespace

std::shared_ptr<const runtime::Backend> interpreter_of_programs(
    machine::Machine machine, std::function<void(const loops::Program&)> look) {
  return std::make_shared<const ProgramInterpreter>(std::move(machine), std::move(look));
}

}  // namespace twinloom::tests
