// Inputs that are broken in many ways give an Error each: no crash, no hang, no Bug, no huge allocation.
// Texts are broken by twelve kinds of damage, drawn from a seed that is printed; a text that is still a
// graph after its damage is drawn again, so that every case is a broken one.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "core/base/error.h"
#include "frontends/arrays/arrays.h"
#include "tests/frontends/texts.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

using Random = std::mt19937;

const std::string& whole_text() {
  static const std::string text =
      module_text("arg0_1: \"Sym(s27)\", x: \"f32[s27, 64]\", w: \"f32[64]\", i: \"i64[s27]\"",
                  "a: \"f32[s27, 64]\" = torch.ops.aten.mul.Tensor(x, w);  x = None\n"
                  "# File: model.py:12 in forward, code: y = a.softmax(1)\n"
                  "b: \"f32[s27, 64]\" = torch.ops.aten._softmax.default(a, 1, False);  a = None\n"
                  "c: \"f32[s27, 32]\" = torch.ops.aten.slice.Tensor(b, 1, 0, 32)\n"
                  "d: \"i64[s27, 1]\" = torch.ops.aten.unsqueeze.default(i, 1);  i = None\n"
                  "e: \"f32[s27, 1]\" = torch.ops.aten.gather.default(b, 1, d);  b = d = None\n"
                  "f: \"f32[]\" = torch.ops.aten.sum.dim_IntList(e, []);  e = None\n"
                  "m: \"Sym(2*s27)\" = arg0_1 * 2",
                  "(c, f, m, None)");
  return text;
}

std::size_t any_below(Random& random, std::size_t count) { return random() % count; }

// The text with the k-th of all places of `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to, Random& random) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1))
    places.push_back(at);
  if (places.empty()) return text;
  return text.replace(places[any_below(random, places.size())], from.size(), to);
}

// Cuts the n-th line out.
std::string without_line(const std::string& text, Random& random) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1))
    starts.push_back(at + 1);
  const std::size_t k = any_below(random, starts.size());
  const std::size_t end = k + 1 < starts.size() ? starts[k + 1] : text.size();
  return text.substr(0, starts[k]) + text.substr(end);
}

std::string swapped_bytes(std::string text, Random& random) {
  for (int k = 0; k < 8; ++k) text[any_below(random, text.size())] = static_cast<char>(random() % 256);
  return text;
}

struct Damage {
  const char* name;
  std::function<std::string(const std::string&, Random&)> apply;
};

const Damage damages[] = {
    {"cut",
     [](const std::string& text, Random& random) { return text.substr(0, any_below(random, text.size())); }},
    {"without a start",
     [](const std::string& text, Random& random) { return text.substr(1 + any_below(random, 60)); }},
    {"mutated bytes", swapped_bytes},
    {"a missing line", without_line},
    {"unknown operator",
     [](const std::string& text, Random& random) {
       return replaced(text, "aten.", cat("aten.no", random() % 1000), random);
     }},
    {"absurd size", [](const std::string& text,
                       Random& random) { return replaced(text, "64", "9223372036854775807", random); }},
    {"negative size",
     [](const std::string& text, Random& random) { return replaced(text, "64]", "-5]", random); }},
    {"wrong type",
     [](const std::string& text, Random& random) {
       return replaced(text, "f32[", random() % 2 ? "i64[" : "f31[", random);
     }},
    {"unclosed bracket",
     [](const std::string& text, Random& random) { return replaced(text, ")", "", random); }},
    {"unclosed quote",
     [](const std::string& text, Random& random) { return replaced(text, "\"", "", random); }},
    {"deep nesting",
     [](const std::string& text, Random& random) {
       return replaced(text, "(", std::string(1000 + random() % 100000, random() % 2 ? '(' : '['), random);
     }},
    {"unknown value",
     [](const std::string& text, Random& random) {
       return replaced(text, "(b, ", cat("(b", random() % 99, ", "), random);
     }},
    {"wrong arguments",
     [](const std::string& text, Random& random) {
       return replaced(text, ", 1", random() % 2 ? ", 7" : ", None", random);
     }},
};

// "Error", or what else reading does.
std::string outcome(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    return std::string(error.what()).empty() ? "an Error without words" : "Error";
  } catch (const std::exception& error) {
    return cat("not an Error: ", error.what());
  }
  return "no error";
}

constexpr int cases_a_kind = 20;

TEST(Broken, TheWholeTextIsRead) { EXPECT_EQ(error_of(whole_text()), NOTHING_THROWN); }

TEST(Broken, TextsGiveAnErrorEach) {
  constexpr unsigned seed = 20240517;
  SCOPED_TRACE(cat("seed ", seed));
  Random random(seed);
  for (const Damage& damage : damages) {
    int broken = 0;
    for (int tries = 0; broken < cases_a_kind && tries < 50 * cases_a_kind; ++tries) {
      const std::string text = damage.apply(whole_text(), random);
      const std::string result = outcome([&] { fx::read(text); });
      if (result == "no error") continue;
      ASSERT_EQ(result, "Error") << damage.name << ":\n" << text.substr(0, 4000);
      ++broken;
    }
    EXPECT_EQ(broken, cases_a_kind) << damage.name;
  }
}

// The header's length and the file's checks stay what they are where the damage does not mean them.
TEST(Broken, ArchivesGiveAnErrorOrTheirArrays) {
  constexpr unsigned seed = 20240518;
  SCOPED_TRACE(cat("seed ", seed));
  Random random(seed);
  const ScratchFolder folder;
  const std::string file = folder.file("a.npz");
  arrays::write_npz(file, {{"in0", runtime::contiguous(runtime::allocate(ops::DType::u8, {40}))},
                           {"in1", runtime::allocate(ops::DType::f32, {0, 3})}});
  const std::string good = read_file(file);
  int errors = 0;
  for (int k = 0; k < 300; ++k) {
    std::string bytes = good;
    if (k % 3 == 0) bytes.resize(any_below(random, bytes.size()));
    if (k % 3 == 1) bytes[any_below(random, bytes.size())] = static_cast<char>(random());
    if (k % 3 == 2) bytes.erase(any_below(random, bytes.size()), 1 + random() % 16);
    write_file(file, bytes);
    const std::string result = outcome([&] { arrays::read_npz(file); });
    ASSERT_TRUE(result == "Error" || result == "no error") << result;
    errors += result == "Error" ? 1 : 0;
  }
  EXPECT_GE(errors, 200);
}

TEST(Broken, ArraysGiveAnErrorEach) {
  constexpr unsigned seed = 20240519;
  SCOPED_TRACE(cat("seed ", seed));
  Random random(seed);
  runtime::Tensor tensor = runtime::allocate(ops::DType::f32, {3, 5});
  const std::string good = arrays::print_npy(runtime::contiguous(tensor));
  for (int k = 0; k < 100; ++k) {
    const std::string bytes =
        k % 2 == 0 ? good.substr(0, any_below(random, good.size()))
                   : replaced(good, k % 4 == 1 ? "(3, 5)" : "5)",
                              k % 4 == 1 ? cat("(", random(), ", ", random(), ")") : "99999999999)", random);
    ASSERT_EQ(outcome([&] { arrays::parse_npy(bytes, "x"); }), "Error") << k;
  }
}

}  // namespace
}  // namespace twinloom::tests
