// Packages: what was exported runs elsewhere with the same bits; what does not fit, or is damaged, is an
// Error that says why.
#include "core/package/package.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "api/package.h"
#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/base/files.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/thrown.h"

namespace twinloom {
namespace {

constexpr std::int64_t MOST = 1 << 24;

// Rows of any number and length less their mean, looked up by an index, with an array of the graph added.
Graph rows_graph() {
  Builder builder("rows");
  const Symbol n("n"), m("m");
  const Value x = builder.input("x", DType::f32, {n, m});
  const Value at = builder.input("at", DType::i64, {4});
  const Value centred = x - graph::mean(x, {1}, true);
  const std::array<float, 4> weights = {0.5f, 1.5f, 2.5f, 3.5f};
  const auto bytes = std::as_bytes(std::span(weights));
  const Value table = builder.constant({DType::f32, {4, 1}, std::vector(bytes.begin(), bytes.end())});
  builder.output(centred, "centred");
  builder.output(graph::take(centred, 0, at) * table, "chosen");
  return builder.take();
}

Tensor matrix(std::int64_t rows, std::int64_t columns) {
  Tensor tensor = allocate(DType::f32, {rows, columns});
  auto* data = static_cast<float*>(tensor.data);
  for (std::int64_t i = 0; i < rows * columns; ++i) data[i] = static_cast<float>((i * 37) % 101) * 0.37f;
  return tensor;
}

Tensor indices(const std::array<std::int64_t, 4>& values) {
  Tensor tensor = allocate(DType::i64, {4});
  std::memcpy(tensor.data, values.data(), sizeof values);
  return tensor;
}

std::string bytes_of(const Output& output) {
  const Tensor tensor = contiguous(std::get<Tensor>(output));
  return {static_cast<const char*>(tensor.data),
          static_cast<std::size_t>(runtime::element_count(tensor) * ops::size_of(tensor.dtype))};
}

void expect_same(const std::vector<Output>& given, const std::vector<Output>& wanted) {
  ASSERT_EQ(given.size(), wanted.size());
  for (std::size_t r = 0; r < given.size(); ++r) EXPECT_EQ(bytes_of(given[r]), bytes_of(wanted[r])) << r;
}

class Packages : public testing::Test {
 protected:
  Executable loaded(bool compile = false) const { return load_package(file, device, {.compile = compile}); }
  std::string refusal() const {
    return tests::words_of<Error>([&] { package::Package::open(file); });
  }
  static std::vector<Output> run_rows(const Executable& executable) {
    return executable.run(std::vector<Argument>{matrix(5, 7), indices({0, 1, 2, 3})});
  }
  // With the checksum that its bytes before the arrays have now.
  void write_checked(std::string bytes) const {
    const std::size_t covered = ByteReader(std::string_view(bytes).substr(16)).number() - checksum_bytes;
    write_whole(file, bytes.replace(covered, checksum_bytes, checksum_of(bytes.substr(0, covered))));
  }

  tests::ScratchFolder folder;
  std::filesystem::path file = folder.file("rows.twinloom");
  Graph graph = rows_graph();
  Device device = Device::cpu({.cache = false});
};

void expect_words(const std::string& text, std::string_view words) {
  EXPECT_NE(text.find(words), std::string::npos) << "no '" << words << "' in: " << text;
}

TEST_F(Packages, RunWithTheBitsOfWhatIsCompiledHere) {
  for (const Mode mode : {Mode::strict, Mode::fused}) {
    CompileOptions options;
    options.mode = mode;
    export_package(graph, file, {.compile = options});
    const Executable packaged = loaded();
    const Executable compiled = compile(graph, device, options);
    for (const auto& [rows, columns] : {std::pair{5, 7}, std::pair{64, 1000}, std::pair{4, 1}}) {
      const std::vector<Argument> arguments = {matrix(rows, columns), indices({3, 0, 2, 2})};
      expect_same(packaged.run(arguments), compiled.run(arguments));
      EXPECT_EQ(packaged.peak_bytes(arguments), compiled.peak_bytes(arguments));
    }
    const auto variant = packaged.variant(std::vector<Argument>{matrix(5, 7), indices({0, 0, 0, 0})});
    for (const runtime::Step& step : variant->steps) EXPECT_FALSE(step.source) << "it was compiled here";
  }
}

TEST_F(Packages, KeepWhatIsDonated) {
  Builder builder("line");
  const Value x = builder.input("x", DType::f32, {Symbol("n")});
  builder.output(x * 2 + 1);
  CompileOptions options;
  options.donated = {"x"};
  export_package(builder.take(), file, {.compile = options});
  const Tensor given = matrix(1, 9);
  Tensor row = given;
  row.sizes = {9};
  row.strides = {1};
  const std::string before = bytes_of(Output{row});
  const Executable packaged = loaded();
  EXPECT_EQ(packaged.peak_bytes(std::vector<Argument>{row}), 0);
  const auto outputs = packaged.run(std::vector<Argument>{row});
  EXPECT_EQ(std::get<Tensor>(outputs[0]).data, given.data);
  EXPECT_NE(bytes_of(Output{row}), before);
}

// The order of its sums is chosen for a class of sizes.
TEST_F(Packages, OfModeFastRunWithTheBitsOfTheirClass) {
  CompileOptions options;
  options.mode = Mode::fast;
  const std::vector<Argument> example = {matrix(64, 1000), indices({3, 0, 2, 2})};
  export_package(graph, file, {.compile = options, .examples = {example}, .of_class = true});
  expect_same(loaded().run(example), compile(graph, device, options).run(example));
}

TEST_F(Packages, ErrorsOfARunNameTheNode) {
  export_package(graph, file);
  const std::vector<Argument> arguments = {matrix(5, 7), indices({3, 0, 5, 2})};
  const std::string given = tests::words_of<Error>([&] { loaded().run(arguments); });
  expect_words(given, "index 5 is out of range; expected 0 <= index < 5");
  EXPECT_EQ(given, tests::words_of<Error>([&] { compile(graph, device).run(arguments); }));
}

TEST_F(Packages, HoldKernelsForTheLayoutsOfExamples) {
  Tensor turned = matrix(7, 5);
  std::swap(turned.sizes[0], turned.sizes[1]);
  std::swap(turned.strides[0], turned.strides[1]);
  const std::vector<Argument> arguments = {turned, indices({3, 0, 2, 2})};
  export_package(graph, file);
  expect_words(tests::words_of<Error>([&] { loaded().run(arguments); }),
               "has no kernels for arguments with the strides 0: 1, n; it has kernels for row-major");
  expect_same(loaded(true).run(arguments), compile(graph, device).run(arguments));
  export_package(graph, file, {.examples = {arguments}});
  expect_same(loaded().run(arguments), compile(graph, device).run(arguments));
  expect_words(tests::words_of<Error>([&] {
                 loaded().run(std::vector<Argument>{matrix(5, 7), arguments[1]});
               }),
               "it has kernels for 0: 1, n");
}

TEST_F(Packages, KernelsOfAClassComeBeforeThoseOfAllSizes) {
  const std::vector<Argument> example = {matrix(8, 4096), indices({0, 1, 2, 3})};
  export_package(graph, file, {.examples = {example}, .of_class = true});
  const Executable packaged = loaded();
  EXPECT_FALSE(packaged.variant(example)->sizes.questions.empty());
  const std::vector<Argument> others = {matrix(8, 33), indices({0, 1, 2, 3})};
  EXPECT_TRUE(packaged.variant(others)->sizes.questions.empty());
  expect_same(packaged.run(example), compile(graph, device).run(example));
  expect_same(packaged.run(others), compile(graph, device).run(others));
}

TEST_F(Packages, SizesOfZeroAreCompiledOrAnError) {
  export_package(graph, file);
  const std::vector<Argument> nothing = {matrix(4, 0), indices({0, 1, 2, 3})};
  expect_words(tests::words_of<Error>([&] { loaded().run(nothing); }), "has no kernels for the size m = 0");
  expect_same(loaded(true).run(nothing), compile(graph, device).run(nothing));
  expect_words(tests::words_of<Error>([&] { export_package(graph, file, {.examples = {nothing}}); }),
               "an example has the size m = 0");
}

TEST_F(Packages, HoldWhatSeveralTargetsRun) {
  export_package(graph, file, {.targets = {"avx2", "avx512"}});
  const package::Package both = package::Package::open(file);
  EXPECT_EQ(both.targets(), (std::vector<std::string>{"cpu avx2", "cpu avx512"}));
  const std::vector<Argument> arguments = {matrix(9, 77), indices({8, 0, 2, 2})};
  const auto wanted = compile(graph, device).run(arguments);
  expect_same(loaded().run(arguments), wanted);
  const Device narrow = Device::cpu({.isa = "avx2", .cache = false});
  expect_same(both.executable(narrow.share()).run(arguments), wanted);
}

TEST_F(Packages, ADeviceWithoutKernelsSaysWhatThereIs) {
  export_package(graph, file, {.targets = {"avx512"}});
  const std::vector<Argument> arguments = {matrix(9, 77), indices({8, 0, 2, 2})};
  const Device narrow = Device::cpu({.isa = "avx2", .cache = false});
  const auto run = [&](const Device& on, bool compile) {
    return load_package(file, on, {.compile = compile}).run(arguments);
  };
  expect_words(tests::words_of<Error>([&] { run(narrow, false); }),
               "has no kernels for this device, which runs cpu avx2; it has kernels for cpu avx512");
  expect_words(tests::words_of<Error>([&] { run(Device::reference(), false); }), "which runs nothing");
  expect_same(run(narrow, true), compile(graph, device).run(arguments));
}

TEST_F(Packages, WrongTargetsAreErrors) {
  const auto refused = [&](std::vector<std::string> targets) {
    return tests::words_of<Error>([&] { export_package(graph, file, {.targets = std::move(targets)}); });
  };
  expect_words(refused({"avx51"}),
               "there is no target 'avx51'; targets are avx2, avx512 and sm_90; did you mean 'avx512'?");
  expect_words(refused({"avx2", "avx2"}), "the target avx2 is given twice");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Packages, OtherFilesAreErrorsThatNameThem) {
  expect_words(refusal(), file.string());
  std::filesystem::create_directory(file);
  expect_words(refusal(), "is no regular file");
  std::filesystem::remove(file);
  for (const std::string_view bytes :
       {"", "graph \"f\"", "TWLOOMPK", "TWLOOMPK12345678123456781234567812345678"}) {
    write_whole(file, bytes);
    expect_words(refusal(), "rows.twinloom");
  }
  EXPECT_FALSE(package::Package::begins("graph \"f\""));
}

TEST_F(Packages, FilesOfOtherVersionsAreErrorsThatSaySo) {
  export_package(graph, file);
  const std::string whole = read_bytes(file, MOST);
  std::string other = whole;
  other[8] = 9;
  write_checked(other);
  expect_words(refusal(), "it is a package of format 9; this version of Twinloom reads format 5");
  other = whole;
  const std::size_t at = other.find("\"twinloom\":\"");
  ASSERT_NE(at, std::string::npos);
  other[at + 12] = '7';
  write_checked(other);
  expect_words(refusal(), "it was made by Twinloom 7.");
}

TEST_F(Packages, DamagedFilesAreErrors) {
  export_package(graph, file);
  const std::string whole = read_bytes(file, MOST);
  std::mt19937 random(20261126);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = whole;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    write_whole(file, damaged);
    expect_words(tests::words_of<Error>([&] { run_rows(loaded()); }), "rows.twinloom");
    write_whole(file, whole.substr(0, random() % whole.size()));
    expect_words(refusal(), "rows.twinloom");
  }
}

// Its bytes are read by the first run that uses them.
TEST_F(Packages, DamagedArraysAreErrorsOfTheRunsThatUseThem) {
  export_package(graph, file);
  std::string bytes = read_bytes(file, MOST);
  bytes[bytes.size() - 64] ^= 1;
  write_whole(file, bytes);
  const Executable executable = loaded();
  for (int round = 0; round < 2; ++round) {
    const std::string words = tests::words_of<Error>([&] { run_rows(executable); });
    expect_words(words, file.string());
    expect_words(words, "its array 0 is damaged: its checksum is not that of its bytes");
  }
}

// Of this process, what it has touched of files included.
std::int64_t resident_bytes() {
  std::int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

TEST_F(Packages, OfLargeArraysAreLoadedWithoutReadingThem) {
  constexpr std::int64_t elements = 1 << 26;
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * 4, std::byte{60});
  Builder builder("large");
  const Value x = builder.input("x", DType::f32, {elements});
  builder.output(x + builder.constant({DType::f32, {elements}, std::move(bytes)}), "sum");
  export_package(builder.take(), file);
  // Of 256 MiB: were they read or copied, as many pages would be resident.
  const std::int64_t before = resident_bytes();
  const Executable executable = loaded();
  EXPECT_LT(resident_bytes() - before, std::int64_t{16} << 20);
}

// Whoever writes the checksum too: an Error, or a package that still means something, and never more.
TEST_F(Packages, TextsThatWereChangedDoNoHarm) {
  export_package(graph, file);
  const std::string whole = read_bytes(file, MOST);
  const std::size_t code = whole.find("\"arguments\"");
  ASSERT_NE(code, std::string::npos);
  const std::size_t texts = ByteReader(std::string_view(whole).substr(16)).number() - checksum_bytes - 24;
  std::mt19937 random(7);
  int errors = 0;
  for (int round = 0; round < 400; ++round) {
    std::string changed = whole;
    for (int times = 0; times < 1 + round % 4; ++times) {
      std::size_t at = 24 + random() % texts;
      while (changed[at] < ' ') at = 24 + random() % texts;  // in texts, not in machine code
      changed[at] = "0123456789-[]{}\",:abz"[random() % 21];
    }
    write_checked(changed);
    try {
      const package::Package opened = package::Package::open(file);
      opened.executable(device.share()).variant(std::vector<Argument>{matrix(5, 7), indices({0, 1, 2, 3})});
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 100);
}

}  // namespace
}  // namespace twinloom
