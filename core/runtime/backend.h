// What a back end offers: a Machine, and kernels made from programs. It makes no scheduling decision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/loops/in_place.h"
#include "core/loops/interpret.h"
#include "core/loops/loops.h"
#include "core/machine/machine.h"
#include "core/runtime/space.h"

namespace twinloom::runtime {

using loops::Failure;
using loops::Memory;

// How the `block` range of a kernel is divided among workers: body(context, begin, end) must be called
// so that every task of 0 <= task < tasks is covered exactly once, from any thread, and return when all
// is done. A caller may hand in its own.
using ParallelBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
using ParallelFor = std::function<void(std::int64_t tasks, int threads, ParallelBody body, void* context)>;

// Of a run that can begin again, as what it was given stays as it is.
struct Attempt {
  bool is_careful = false;  // the second: a kernel overwrites nothing that it may have to read again
  bool is_lost = false;     // said by a kernel that did: the run begins again, with care
};

struct RunSettings {
  int threads = 0;                            // 0: one a core
  const ParallelFor* parallel_for = nullptr;  // null: the back end's own
  std::int64_t tasks = -1;                    // what Kernel::tasks said; -1: it is asked
  Work* work = nullptr;                       // of a GPU: the run that a kernel is part of; set by Executable
  std::uint64_t run = 0;  // of the kernels of one run on one thread alone; 0: none says so
  Attempt* attempt = nullptr;  // null: the run cannot begin again
};

// What a kernel takes of the machine that it was made for.
struct Resources {
  int registers = 0;               // a thread
  std::int64_t spill_bytes = 0;    // a thread: what no register holds, and arrays of its own
  std::int64_t scratch_bytes = 0;  // a block
  int threads = 0;                 // a block
  int blocks_each = 0;             // that a multiprocessor runs at once
};

// An argument that may be a constant.
struct ConstantArgument {
  Memory memory;
  std::shared_ptr<const void>
      content;  // as long as it is there, the memory stays as it is; null: it may change
};

// Machine code of one or more programs that run one after the other. Immutable; run() may be called by
// many threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // `arguments` in the order of the program's buffers; `sizes` as Program::sizes. Returns the first
  // failed Index. On a GPU it only starts the kernel: `settings.work` hears of failures.
  virtual std::optional<Failure> run(std::span<const Memory> arguments, std::span<const std::int64_t> sizes,
                                     const RunSettings& settings) const = 0;
  // The same kernel where some arguments are memory that never changes: what it makes of their contents is
  // made once. Null: it makes nothing.
  virtual std::unique_ptr<const Kernel> with_constants(std::span<const ConstantArgument>) const {
    return nullptr;
  }
  // Pairs of buffers that may be one memory with these sizes: an element of the first is read before that of
  // the second is written. A run that has one memory for them hands in an attempt.
  virtual std::vector<loops::InPlace> in_place(std::span<const std::int64_t>) const { return {}; }
  // How many tasks it has with these sizes: what a caller keeps that runs it often. -1: it does not say.
  virtual std::int64_t tasks(std::span<const std::int64_t>) const { return -1; }
  // Nothing where the machine has none to share out.
  virtual std::optional<Resources> resources() const { return std::nullopt; }
};

// Machine code of a kernel that no process has loaded, as packages keep it: what Backend::load takes.
using Code = std::vector<std::string>;

// What was compiled, written when it is asked for; null where nothing was. Thread-safe.
using Source = std::function<std::string()>;
inline Source written(std::string text) {
  return [text = std::move(text)] { return text; };
}

struct Built {
  std::unique_ptr<const Kernel> kernel;
  Source source;
  double compile_seconds = 0;  // from program to kernel, however it came about
  bool cached = false;         // the machine code was kept by an earlier build
  Code code = {};              // of a back end that compiles for others to load, which makes no kernel
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;      // "cpu", "reference"
  virtual std::string describe() const = 0;  // one line for `twinloom devices`
  virtual const machine::Machine& machine() const = 0;
  // Where tensors must lie; null: in memory of this process.
  virtual const Space* space() const { return nullptr; }
  virtual bool runs_nests() const { return false; }  // executes unscheduled nests (the reference does)
  // What does not work as it should and hurts no result, such as a cache that cannot be written; else empty.
  virtual std::string warning() const { return {}; }
  // Whether a library computes a nest that is a contraction, of the types and layouts that it has, which may
  // then be built as Program::library. Asked where the machine has a Machine::library_rate.
  virtual bool has_library_for(const loops::Program&) const { return false; }
  // Thread-safe. Bug when the text that was emitted is refused.
  virtual Built build(const loops::Program& program) const = 0;
  // The same where the two buffers of each pair, of which loops::is_in_place holds, may be one memory. A back
  // end whose kernels take it for granted that their buffers lie apart has its own.
  virtual Built build_in_place(const loops::Program& program, std::span<const loops::InPlace>) const {
    return build(program);
  }
  // What load() takes code of, the best first, as "cpu avx512", "cpu avx2".
  virtual std::vector<std::string> targets() const { return {}; }
  // A kernel from code that was made for this program and one of the targets. Thread-safe. Error where it is
  // none.
  virtual std::unique_ptr<const Kernel> load(const loops::Program& program, const Code& code) const;
};

}  // namespace twinloom::runtime
