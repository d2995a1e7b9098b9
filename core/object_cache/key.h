// What a kept object was made from: a list of named texts. Two keys are one where every name and every byte
// is the same; a hash only finds the place to look.
//   kernel=softmax_1  target=avx2  flags=-O2 -x c++ ...  source=extern "C" void kernel(...
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace twinloom::object_cache {

struct Field {
  std::string name;
  std::string text;
  friend bool operator==(const Field&, const Field&) = default;
};
using Key = std::vector<Field>;

// Fields that lists of entries show: what an entry is of, one of the first two, and what it was made for.
inline constexpr const char* kernel_field = "kernel";  // what the kernel does: "sum_mul"
inline constexpr const char* graph_field = "graph";    // the name of the graph that was planned
inline constexpr const char* shortcut_field = "shortcut";  // another key of a kernel: in no list
inline constexpr const char* source_field = "source";      // the text that is compiled
inline constexpr const char* target_field = "target";  // what it was made for, such as "cpu avx2"

// The text of a kernel, and the key under which its machine code is kept: everything that decides its bytes.
// What the kernel is called in its graph does not.
struct KernelText {
  std::string source;
  Key key;
};
// `kernel`: what it does; its source says the same. `identity`: of the compiler, lines of a name and its
// text, each a field; the version of Twinloom is another.
Key kernel_key(std::string_view kernel, const std::string& target, std::string_view identity,
               std::string source);

// "max_sum_exp", "graph main": what the entry is of.
std::string subject_of(const Key& key);

// The text of the field, empty where the key has none of that name.
const std::string& text_of(const Key& key, const std::string& name);

// How many fields are not the same in both.
int count_differences(const Key& asked, const Key& kept);

// In words, which fields are not the same and where: "flags differ at word 3: '-O1' is asked for, '-O2' is
// kept". Empty where the keys are one.
std::string describe_differences(const Key& asked, const Key& kept);

}  // namespace twinloom::object_cache
