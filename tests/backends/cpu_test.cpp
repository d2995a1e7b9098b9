// The CPU back end itself: instruction sets, floating-point state, threads, the caller's pool.
#include "backends/cpu/cpu.h"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cfenv>
#include <mutex>
#include <set>
#include <thread>

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "core/base/error.h"
#include "tests/backends/compare.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

std::string message_of(const cpu::CpuOptions& options) {
  return words_of<Error>([&] { cpu::make_cpu(options); });
}

constexpr const char* halve = R"(program halve(x: f32[n], y: written f32[n]; n in 0..) {
  for i < floor_div(n, 8) block { for l < 8 vector { y[8*i + l] = mul(x[8*i + l], 0x1p-1: f32) } } })";

TEST(Cpu, PreludesAreCompiledWhenTheProjectIsBuilt) {
  for (const cpu::Isa& isa : cpu::all_isas()) {
    const jit::Compiler compiler(isa.target, cpu::all_headers(), cpu::prelude(), {},
                                 cpu::precompiled_prelude(isa));
    EXPECT_TRUE(compiler.precompiled() == cpu::precompiled_prelude(isa)) << isa.name;
  }
}

// LLVM likes to compare halves in place of the floats that they are widened to, one by one: ten times as
// long.
TEST(Cpu, WidenedHalvesAreComparedAsVectors) {
  for (const cpu::Isa& isa : cpu::all_isas()) {
    const jit::Compiler compiler(isa.target, cpu::all_headers(), cpu::prelude(), {},
                                 cpu::precompiled_prelude(isa));
    std::string source = "using namespace twinloom::device;\n";
    for (const int lanes : {4, 8, 16, 64})
      source += cat("extern \"C\" void kernel_", lanes, "(const Vector<u16, ", lanes, ">& x, Vector<f32, ",
                    lanes, ">& y) { const Vector<f32, ", lanes,
                    "> wide = widen<f16>(x), bound(2.0f); y = select(wide > bound, wide, bound); }\n");
    const std::string text = compiler.assembly(source, "kernels");
    EXPECT_NE(text.find("vcvtph2ps"), std::string::npos) << isa.name << '\n' << text;
    EXPECT_EQ(text.find("comiss"), std::string::npos) << isa.name << '\n' << text;
    EXPECT_EQ(text.find("rsp"), std::string::npos) << isa.name << ": through memory\n" << text;
  }
}

TEST(Cpu, UnknownAndMissingInstructionSetsAreErrors) {
  EXPECT_EQ(message_of({.isa = "avx3"}), "cpu: unknown instruction set 'avx3'; known are avx2 and avx512");
  for (const cpu::Isa& isa : cpu::all_isas()) {
    if (cpu::is_supported(isa))
      EXPECT_EQ(message_of({.isa = isa.name}), NOTHING_THROWN);
    else
      EXPECT_EQ(message_of({.isa = isa.name}),
                cat("cpu: this CPU does not have the instruction set '", isa.name, "'"));
  }
  EXPECT_EQ(message_of({.threads = -1}), "cpu: -1 threads");
}

TEST(Cpu, TheMachineHasCachesAndCores) {
  const machine::Machine& machine = cpu_backend().machine();
  EXPECT_EQ(machine.blocks_at_once, 2);
  ASSERT_GE(machine.memory.size(), 2u);
  EXPECT_GE(machine.memory.front().bytes, 8 << 10);
  EXPECT_EQ(machine.memory.back().name, "memory");
}

TEST(Cpu, TheCallersFloatingPointStateIsNeitherUsedNorChanged) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // flush to zero, denormals are zero
  std::fesetround(FE_UPWARD);
  const unsigned given = _mm_getcsr();
  const auto built = cpu_backend().build(loops::parse(halve));
  std::vector<float> x(4096, 0x1p-126f), y(4096);
  x[1] = 0x1.000002p-126f;
  const std::vector<runtime::Memory> memory = {{x.data(), 0, 4096}, {y.data(), 0, 4096}};
  const std::vector<std::int64_t> sizes = {4096};
  for (const int threads : {1, 2}) {
    std::fill(y.begin(), y.end(), 1.0f);
    built.kernel->run(memory, sizes, {.threads = threads, .parallel_for = nullptr});
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, given & ~0x3fu);
    const unsigned now = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(y[0], 0x1p-127f);
    EXPECT_EQ(y[4095], 0x1p-127f);
    EXPECT_EQ(y[1], 0x1p-127f);  // a tie, rounded to even
    _mm_setcsr(now);
  }
  std::fesetround(FE_TONEAREST);
  _mm_setcsr(before);
}

TEST(Cpu, TheCallersPoolCoversEachTaskOnce) {
  const auto built = cpu_backend().build(loops::parse(halve));
  std::vector<float> x(800, 3.0f), y(800);
  const std::vector<runtime::Memory> memory = {{x.data(), 0, 800}, {y.data(), 0, 800}};
  int calls = 0;
  const runtime::ParallelFor pool = [&](std::int64_t tasks, int threads, runtime::ParallelBody body,
                                        void* context) {
    ++calls;
    EXPECT_EQ(tasks, 100);
    EXPECT_EQ(threads, 7);
    for (std::int64_t task = tasks; task-- > 0;) body(context, task, task + 1);
  };
  const std::vector<std::int64_t> sizes = {800};
  built.kernel->run(memory, sizes, {.threads = 7, .parallel_for = &pool});
  EXPECT_EQ(calls, 1);
  for (const float value : y) EXPECT_EQ(value, 1.5f);
}

TEST(Cpu, SmallWorkStaysOnTheCallingThread) {
  const auto backend = cpu::make_cpu({.threads = 2});
  const auto built = backend->build(loops::parse(halve));
  std::vector<float> x(800, 3.0f), y(800);
  const std::vector<runtime::Memory> memory = {{x.data(), 0, 800}, {y.data(), 0, 800}};
  int calls = 0;
  const runtime::ParallelFor pool = [&](std::int64_t, int, runtime::ParallelBody, void*) { ++calls; };
  const std::vector<std::int64_t> sizes = {800};
  built.kernel->run(memory, sizes, {.threads = 2, .parallel_for = &pool});
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(y[799], 1.5f);
}

TEST(Cpu, ManyThreadsBuildAndRunAtOnce) {
  std::vector<std::thread> threads;
  for (int at = 0; at < 3; ++at)
    threads.emplace_back([at] {
      for (int turn = 0; turn < 3; ++turn)
        expect_same(halve, {.sizes = {64 + 8 * at}, .threads = 2, .seed = static_cast<std::uint64_t>(at)});
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Cpu, ThreadLoopsAreRefused) {
  EXPECT_THROW(cpu_backend().build(
                   loops::parse("program p(x: written f32[4]) { for i < 4 thread { x[i] = 0x0p+0: f32 } }")),
               Bug);
}

}  // namespace

}  // namespace twinloom::tests
