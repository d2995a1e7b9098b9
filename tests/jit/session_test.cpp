// The session by itself: what loaded code may call, what it may not, and that it goes when it should.
#include "jit/orc_session.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "core/base/error.h"
#include "jit/clang_compiler.h"
#include "tests/support/thrown.h"

namespace twinloom::jit {
namespace {

const Compiler& compiler() {
  static const Compiler one({"x86-64-v3", {}, 256}, {}, "");
  return one;
}

int triple(int value) { return 3 * value; }

HostSymbol host_triple() { return {"host_triple", reinterpret_cast<void*>(&triple)}; }

constexpr const char* calls_host =
    "extern \"C\" int host_triple(int);\n"
    "extern \"C\" int run(int value) { return host_triple(value) + 1; }\n";

int run(const Module& module, int value) {
  return reinterpret_cast<int (*)(int)>(module.address("run"))(value);
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in:\n" << text;
}

int mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

TEST(Session, LoadedCodeCallsTheHost) {
  const Session session({host_triple()});
  EXPECT_EQ(run(session.load(compiler().compile(calls_host, "calls_host")), 5), 16);
}

TEST(Session, AMissingSymbolIsNamed) {
  const Session session({});
  const std::string words =
      tests::words_of<Bug>([&] { session.load(compiler().compile(calls_host, "calls_host")); });
  expect_contains(words, "calls_host");
  expect_contains(words, "host_triple");
}

TEST(Session, SymbolsOfTheProcessAreNotOffered) {
  const Session session({});
  const Object object = compiler().compile(
      "extern \"C\" int getpid();\nextern \"C\" int run(int) { return getpid(); }\n", "calls_getpid");
  expect_contains(tests::words_of<Bug>([&] { session.load(object); }), "getpid");
}

TEST(Session, AFailedLoadLeavesTheSessionUsable) {
  const Session session({host_triple()});
  const Object missing = compiler().compile(
      "extern \"C\" int gone();\nextern \"C\" int run(int) { return gone(); }\n", "missing");
  tests::words_of<Bug>([&] { session.load(missing); });
  EXPECT_EQ(run(session.load(compiler().compile(calls_host, "calls_host")), 1), 4);
}

TEST(Session, DamagedBytesAreABug) {
  const Session session({});
  Object object = compiler().compile("extern \"C\" int run(int value) { return value; }", "damaged");
  object.bytes.resize(object.bytes.size() / 2);
  expect_contains(tests::words_of<Bug>([&] { session.load(object); }), "damaged");
  object.bytes = "not an object";
  expect_contains(tests::words_of<Bug>([&] { session.load(object); }), "damaged");
}

TEST(Session, AnUnknownNameIsABug) {
  const Session session({});
  const Module module = session.load(compiler().compile("extern \"C\" int run(int v) { return v; }", "one"));
  expect_contains(tests::words_of<Bug>([&] { (void)module.address("walk"); }),
                  "the object 'one' does not define walk");
}

TEST(Session, HostSymbolsAreGivenOnce) {
  expect_contains(tests::words_of<Bug>([] {
                    Session({host_triple(), host_triple()});
                  }),
                  "host symbol host_triple is given twice");
}

TEST(Session, ObjectsMayDefineTheSameNames) {
  const Session session({});
  const Module one = session.load(compiler().compile("extern \"C\" int run(int) { return 1; }", "one"));
  const Module two = session.load(compiler().compile("extern \"C\" int run(int) { return 2; }", "two"));
  EXPECT_EQ(run(one, 0), 1);
  EXPECT_EQ(run(two, 0), 2);
}

TEST(Session, ModulesOutliveTheSession) {
  std::optional<Session> session;
  session.emplace(std::vector<HostSymbol>{host_triple()});
  const Module module = session->load(compiler().compile(calls_host, "calls_host"));
  session.reset();
  EXPECT_EQ(run(module, 2), 7);
}

TEST(Session, LoadingAndDroppingKeepsNoMemoryMapped) {
  const Session session({host_triple()});
  const Object object = compiler().compile(calls_host, "calls_host");
  const auto cycle = [&] {
    for (int i = 0; i < 100; ++i) {
      const Module module = session.load(object);
      ASSERT_EQ(run(module, i), 3 * i + 1);
    }
  };
  cycle();
  const int before = mappings();
  cycle();
  EXPECT_LE(mappings(), before + 2);
}

TEST(Session, CodeGoesWithTheLastHandle) {
  const Session session({});
  const Object object = compiler().compile("extern \"C\" int run(int value) { return value; }", "one");
  const int before = mappings();
  std::optional<Module> first = session.load(object);
  std::optional<Module> second = first;
  const int loaded = mappings();
  EXPECT_GT(loaded, before);
  first.reset();
  EXPECT_EQ(mappings(), loaded);
  EXPECT_EQ(run(*second, 4), 4);
  second.reset();
  EXPECT_LT(mappings(), loaded);
}

TEST(Session, ThreadsLoadAtOnce) {
  const Session session({host_triple()});
  const Object object = compiler().compile(calls_host, "calls_host");
  const auto load_many = [&] {
    for (int i = 0; i < 200; ++i) EXPECT_EQ(run(session.load(object), i), 3 * i + 1);
  };
  std::thread one(load_many);
  std::thread two(load_many);
  one.join();
  two.join();
}

TEST(Session, NoPageIsWritableAndExecutable) {
  const Session session({host_triple()});
  const Module module = session.load(compiler().compile(calls_host, "calls_host"));
  std::ifstream maps("/proc/self/maps");
  int executable = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::string rights = line.substr(line.find(' ') + 1, 4);
    EXPECT_NE(rights.substr(0, 3), "rwx") << line;
    if (rights[2] == 'x') ++executable;
  }
  EXPECT_GT(executable, 0);
  EXPECT_EQ(run(module, 1), 4);
}

TEST(Session, NeedsNoProgramAndNoFolder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / cat("twinloom_", getpid());
  std::filesystem::create_directories(folder);
  const auto compile_there = [&] {
    std::filesystem::current_path(folder);
    unsetenv("PATH");
    unsetenv("HOME");
    setenv("TMPDIR", "/nonexistent", 1);
    const Session session({host_triple()});
    const Module module = session.load(compiler().compile(calls_host, "calls_host"));
    const bool empty = std::filesystem::is_empty(folder);
    std::_Exit(empty && run(module, 5) == 16 ? 0 : 1);
  };
  EXPECT_EXIT(compile_there(), testing::ExitedWithCode(0), "^$");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace twinloom::jit
