// Kernels of the CPU that are kept on disk: found by later back ends, and recompiled where they cannot be
// loaded.
#include <gtest/gtest.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/translate.h"
#include "core/base/text.h"
#include "tests/object_cache/place.h"

namespace twinloom::tests {
namespace {

constexpr const char* halve = R"(program halve(x: f32[n], y: written f32[n]; n in 0..) {
  for i < floor_div(n, 8) block { for l < 8 vector { y[8*i + l] = mul(x[8*i + l], 0x1p-1: f32) } } })";

class KeptKernels : public testing::Test {
 protected:
  // Builds with a back end of its own, as another process would; whether the kernel came from the cache.
  bool build_and_run(const std::string& name = "halve") const {
    const auto backend = cpu::make_cpu({.isa = "avx2", .cache = cache});
    const runtime::Built built = backend->build(program);
    std::vector<float> x(80, 3.0f), y(80);
    const std::vector<runtime::Memory> memory = {{x.data(), 0, 80}, {y.data(), 0, 80}};
    const std::vector<std::int64_t> sizes = {80};
    EXPECT_FALSE(built.kernel->run(memory, sizes, {}));
    EXPECT_EQ(y, std::vector<float>(80, 1.5f));
    EXPECT_EQ(backend->warning(), "");
    EXPECT_NE(built.source().find(name), std::string::npos);
    return built.cached;
  }

  TestFolder folder;
  std::shared_ptr<const object_cache::ObjectCache> cache =
      std::make_shared<const object_cache::ObjectCache>(folder.options());
  loops::Program program = loops::parse(halve);
  cpu::Translator translator{cpu::choose_isa("avx2", false)};
};

TEST_F(KeptKernels, AreFoundByTheNextBackEnd) {
  EXPECT_FALSE(build_and_run());
  EXPECT_TRUE(build_and_run());
  const auto kept = cache->find(translator.text(program).key);
  ASSERT_TRUE(kept);
  EXPECT_EQ(*kept, translator.object(translator.text(program), "halve").bytes) << "as a new compilation";
  EXPECT_FALSE(cpu::make_cpu({.isa = "avx2"})->build(program).cached) << "only where a cache is given";
}

TEST_F(KeptKernels, WhatCannotBeLoadedIsCompiledAgain) {
  const object_cache::Key key = translator.text(program).key;
  const jit::Object other = translator.object({"extern \"C\" void other() {}\n", {}}, "other");
  for (const std::string& planted : {std::string("no object"), std::string(), other.bytes}) {
    cache->clear();
    cache->store(key, planted);
    EXPECT_FALSE(build_and_run());
    EXPECT_TRUE(build_and_run()) << "it was healed";
  }
}

TEST_F(KeptKernels, AreFoundByOthersThatDifferInNames) {
  const auto named = [](const std::string& kernel, const std::string& buffer) {
    loops::Program other = loops::parse(halve);
    other.name = kernel;
    other.buffers.front().name = buffer;
    return other;
  };
  program = named("k3_mul", "x");
  EXPECT_FALSE(build_and_run("k3_mul"));
  program = named("k12_mul", "mul_7");
  EXPECT_TRUE(build_and_run("k12_mul"));
  program = named("k12_mul_add", "x");
  EXPECT_FALSE(build_and_run("k12_mul_add")) << "says that it does something else";
}

TEST_F(KeptKernels, EveryFieldOfTheKeyCounts) {
  build_and_run();
  const object_cache::Key key = translator.text(program).key;
  ASSERT_TRUE(cache->find(key));
  std::set<std::string> names;
  for (std::size_t at = 0; at < key.size(); ++at) {
    EXPECT_FALSE(key[at].text.empty()) << key[at].name;
    names.insert(key[at].name);
    object_cache::Key changed = key;
    changed[at].text.back() = static_cast<char>(changed[at].text.back() ^ 1);
    EXPECT_FALSE(cache->find(changed)) << key[at].name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"kernel", "target", "twinloom", "compiler", "flags", "passes",
                                          "headers", "build", "source"}));
  EXPECT_NE(cpu::Translator(cpu::choose_isa("avx512", true)).text(program).key, key);
}

}  // namespace
}  // namespace twinloom::tests
