// Schedules in files: text that people may read, compare and change, and that a later compilation replays. A
// folder has one for each nest, machine and class of sizes; its name follows from the three.
//
//   twinloom_schedule 1
//   nest "0f3a5c77e0d1b2a98844c1f0a7d3e5b1"
//   machine "cpu-avx512, 2 threads, 9c41b7d20a55e318"
//   sizes "size0 in 33..64 % 2"
//   seconds 1.21e-05 usual 1.64e-05
//   schedule
//     split -1 i0 : 1024 clip
//     stream b1
//   # program nest(b0: f32[...
//
// Buffers have the names of loops::Identity, whose text stands below as a comment: the file serves every nest
// that is the same but for names.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/loops/identity.h"
#include "core/schedule/schedule.h"

namespace twinloom::schedule {

// What a schedule was made for. A schedule of others is never used.
struct StoredKey {
  std::string nest;     // loops::Identity::hash
  std::string machine;  // its name, its workers and a hash of its facts, those that were measured included
  std::string sizes;    // loops::Identity::sizes
  friend bool operator==(const StoredKey&, const StoredKey&) = default;
};

struct StoredSchedule {
  Schedule schedule;         // of the nest that it was asked for: by that one's names
  double seconds = 0;        // that it took when it was measured, and what
  double usual_seconds = 0;  // the usual schedule took
};

// Where the schedules of one nest are kept and found; nest and machine outlive it. Thread-safe, and safe
// beside other processes.
class StoredFile {
 public:
  // `threads`: that a kernel runs on, where the machine's workers are threads.
  StoredFile(const std::filesystem::path& folder, const loops::Program& nest, const machine::Machine& machine,
             int threads);

  const std::filesystem::path& path() const { return path_; }
  // Nothing where there is no file, or one for something else. Error with file and line where it cannot be
  // read, is no such text, or its schedule is not legal or nothing
  // that the machine runs.
  std::optional<StoredSchedule> read() const;
  // In place of what is there. Error where it cannot be written.
  void write(const StoredSchedule& stored) const;

  // The text of such a file, and back: the same for all nests that it serves.
  std::string text_of(const StoredSchedule& stored) const;
  std::optional<StoredSchedule> parse(std::string_view text) const;

 private:
  const loops::Program& nest_;
  const machine::Machine& machine_;
  loops::Identity identity_;
  StoredKey key_;
  std::filesystem::path path_;
};

}  // namespace twinloom::schedule
