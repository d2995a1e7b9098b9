// Schedules that are measured and kept in files: the same bits, and the same schedules when they are
// replayed.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "api/twinloom.h"
#include "core/base/files.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/sealed/sealed_device.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {

namespace {

// Rows that are looked up, their softmax, and sums along both axes.
Graph looked_up() {
  Builder builder("looked_up");
  const Symbol n("n");
  const Value table = builder.input("table", DType::f32, {500, 300});
  const Value at = builder.input("at", DType::i64, {n});
  const Value rows = graph::embedding(table, at);
  builder.output(softmax(rows, 1), "soft");
  builder.output(sum(rows * rows, {0}), "columns");
  builder.output(sum(exp(rows), {0, 1}), "all");
  return builder.take();
}

// Two kernels that differ in names alone.
Graph alike() {
  Builder builder("alike");
  for (const char* name : {"x", "y"}) builder.output(exp(builder.input(name, DType::f32, {40, 50})) + 1.0);
  return builder.take();
}

struct Made {
  std::string bytes;                   // of all outputs
  std::vector<std::string> schedules;  // of all kernels
  friend bool operator==(const Made&, const Made&) = default;
};

class Tuned : public testing::Test {
 protected:
  Made made(const Graph& graph, const Device& device, int tries, bool keeps = true) {
    CompileOptions options;
    options.mode = Mode::strict;
    options.tuning.tries = tries;
    if (keeps) options.tuning.folder = folder;
    options.tuning.threads = 2;
    options.tuning.report = [&](const Tuning::Tuned& tuned) {
      measured.push_back(tuned.kernel);
      EXPECT_GT(tuned.seconds, 0);
      EXPECT_LE(tuned.seconds, tuned.usual_seconds);
    };
    const Executable executable = compile(graph, device, options);
    std::vector<Argument> given;
    for (const Argument& argument : arguments_of(graph))
      given.emplace_back(device.upload(std::get<Tensor>(argument)));
    Made result;
    for (const runtime::Step& step : executable.variant(given)->steps)
      result.schedules.push_back(step.schedule);
    for (const Output& output : executable.run(given)) {
      const Tensor tensor = runtime::contiguous(device.download(std::get<Tensor>(output)));
      const runtime::Bytes bytes = runtime::bytes_of(tensor);
      result.bytes.append(reinterpret_cast<const char*>(bytes.first),
                          static_cast<std::size_t>(bytes.last - bytes.first));
    }
    return result;
  }

  static std::vector<Argument> arguments_of(const Graph& graph) {
    std::mt19937_64 random(5);
    std::vector<Argument> arguments;
    for (const auto& parameter : graph.parameters()) {
      const auto& node = graph[std::get<graph::NodeId>(parameter.value)];
      std::vector<std::int64_t> sizes;
      for (const SizeExpr& size : node.shape) sizes.push_back(index::constant_of(size).value_or(77));
      const Tensor tensor = allocate(node.dtype, sizes);
      for (std::int64_t k = 0; k < runtime::element_count(tensor); ++k)
        if (node.dtype == DType::i64)
          static_cast<std::int64_t*>(tensor.data)[k] = static_cast<std::int64_t>(random() % 500);
        else
          static_cast<float*>(tensor.data)[k] = static_cast<float>(random() % 2001) * 0.01f - 10;
      arguments.emplace_back(tensor);
    }
    return arguments;
  }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) found.push_back(entry.path());
    return found;
  }

  ScratchFolder scratch;
  std::filesystem::path folder = scratch.file("schedules");
  std::vector<std::string> measured;
};

TEST_F(Tuned, HasTheSameBitsAndIsReplayed) {
  const Device cpu = Device::cpu({.cache = false});
  const Device sealed = Device::of(sealed_device(cpu.share()));
  for (const auto& [graph, device, tries] : {std::tuple{looked_up(), cpu, 3}, {alike(), sealed, 1}}) {
    measured.clear();
    const Made usual = made(graph, device, 0, false);
    const Made tuned = made(graph, device, tries);
    EXPECT_EQ(tuned.bytes, usual.bytes);
    const std::size_t before = measured.size();
    EXPECT_GE(before, 1u);
    EXPECT_EQ(files().size(), before);
    EXPECT_EQ(made(graph, device, 0), tuned);
    EXPECT_EQ(measured.size(), before);
    std::filesystem::remove_all(folder);
  }
}

TEST_F(Tuned, IsMeasuredOnceForNestsThatAreAlike) {
  const Device device = Device::cpu({.cache = false});
  const Made tuned = made(alike(), device, 2);
  EXPECT_EQ(tuned.schedules.size(), 2u);
  EXPECT_EQ(measured.size(), 1u);
  EXPECT_EQ(files().size(), 1u);
  const Made again = made(alike(), device, 2, false);
  EXPECT_EQ(measured.size(), 2u) << "without a folder too";
  EXPECT_EQ(again.bytes, tuned.bytes);
}

TEST_F(Tuned, WhatIsEditedIsUsedOrRefused) {
  const Device device = Device::cpu({.cache = false});
  const Made tuned = made(alike(), device, 2);
  const std::filesystem::path file = files().at(0);
  const std::string text = read_bytes(file, 1 << 20);
  const std::string header = text.substr(0, text.find("schedule\n  ") + 9);
  write_whole(file, header + "  loop -1 i0.0 block\n  loop -1 i1.0 serial\n");
  const Made edited = made(alike(), device, 0);
  for (const std::string& schedule : edited.schedules)
    EXPECT_EQ(schedule, "schedule\n  loop -1 i0.0 block\n  loop -1 i1.0 serial\n");
  EXPECT_EQ(edited.bytes, tuned.bytes);
  write_whole(file, header + "  loop -1 i0.0 block\n");
  EXPECT_EQ(words_of<Error>([&] { made(alike(), device, 0); }),
            cat("'", file.string(),
                "': the schedule in line 6 is not legal for kernel 'k0_add_exp': piece i1.0 of the "
                "common loops has no loop"));
  EXPECT_EQ(made(alike(), device, 0, false).bytes, tuned.bytes);
  // Measuring replaces it.
  EXPECT_EQ(made(alike(), device, 2).bytes, tuned.bytes);
  EXPECT_EQ(made(alike(), device, 0).bytes, tuned.bytes);
}

TEST_F(Tuned, OfNoTriesNothingIsMeasured) {
  const Device device = Device::cpu({.cache = false});
  std::filesystem::create_directories(folder);
  const Made usual = made(looked_up(), device, 0, false);
  EXPECT_EQ(made(looked_up(), device, 0), usual);
  EXPECT_TRUE(files().empty());
  EXPECT_TRUE(measured.empty());
}

TEST_F(Tuned, AllSizesAreNotMeasured) {
  CompileOptions options;
  options.tuning = {.tries = 2,
                    .report = [&](const Tuning::Tuned& tuned) { measured.push_back(tuned.kernel); }};
  pipeline::make_variant(looked_up(), {}, Device::cpu().backend(), options);
  EXPECT_TRUE(measured.empty());
}

TEST_F(Tuned, FoldersMustBeThereOrBeMade) {
  const Device device = Device::cpu({.cache = false});
  EXPECT_EQ(words_of<Error>([&] { made(alike(), device, 0); }),
            cat("there is no folder '", folder.string(), "' of schedules"));
  std::ofstream(folder) << "a file";
  EXPECT_EQ(words_of<Error>([&] { made(alike(), device, 2); }),
            cat("cannot make the folder '", folder.string(), "' of schedules"));
  EXPECT_FALSE(made(alike(), Device::reference(), 2).bytes.empty()) << "it has no schedules";
}

}  // namespace
}  // namespace twinloom::tests
