// Convolutions that oneDNN computes, beside the interpreter.
#include <algorithm>
#include <random>
#include <thread>

#include "core/base/text.h"
#include "core/loops/interpret.h"
#include "tests/library_calls/near_interpreter.h"

namespace twinloom::tests {
namespace {

struct Window {
  int extent, taps, stride, padding, dilation;
  int results() const { return (extent + 2 * padding - dilation * (taps - 1) - 1) / stride + 1; }
};

// [2, groups * c, h, w] by [groups * o, c, taps, taps], row-major or channels-last.
std::string convolution(const Window& h, const Window& w, int groups, int c, int o, bool last) {
  const int channels = groups * c, results = groups * o, area = h.results() * w.results();
  const std::string x =
      last ? cat(channels * h.extent * w.extent, "*n + ", c, "*g + c + ", channels * w.extent * h.stride,
                 "*y0 + ", channels * w.extent * h.dilation, "*r + ", channels * w.stride, "*x0 + ",
                 channels * w.dilation, "*s - ", channels * (w.extent * h.padding + w.padding))
           : cat(channels * h.extent * w.extent, "*n + ", c * h.extent * w.extent, "*g + ",
                 h.extent * w.extent, "*c + ", w.extent * h.stride, "*y0 + ", w.extent * h.dilation, "*r + ",
                 w.stride, "*x0 + ", w.dilation, "*s - ", w.extent * h.padding + w.padding);
  const std::string y =
      last ? cat(results * area, "*n + ", o, "*g + o + ", results * w.results(), "*y0 + ", results, "*x0")
           : cat(results * area, "*n + ", o * area, "*g + ", area, "*o + ", w.results(), "*y0 + x0");
  const auto inside = [](const Window& of, const char* i, const char* k) {
    const std::string place = cat(of.stride, "*", i, " + ", of.dilation, "*", k, " - ", of.padding);
    return cat("-1 < ", place, " && ", place, " < ", of.extent);
  };
  const int taps = c * h.taps * w.taps;
  return cat("program p(x: f32[", 2 * channels * h.extent * w.extent, "], w: f32[", results * taps,
             "], y: written f32[", 2 * results * area, "]) library { for n < 2 { for g < ", groups,
             " { for o < ", o, " { for y0 < ", h.results(), " { for x0 < ", w.results(),
             " { start t0 : sum f32 free for c < ", c, " { for r < ", h.taps, " { for s < ", w.taps,
             " { t0 += mul((x[", x, "] if ", inside(h, "y0", "r"), " && ", inside(w, "x0", "s"),
             " else 0x0p+0:f32), w[", o * taps, "*g + ", taps, "*o + ", h.taps * w.taps, "*c + ", w.taps,
             "*r + s]) at ", h.taps * w.taps, "*c + ", w.taps, "*r + s } } } y[", y, "] = t0 } } } } } }");
}

TEST_F(LibraryCalls, ConvolutionsInBothLayouts) {
  for (const bool last : {false, true}) {
    expect_near(convolution({9, 3, 1, 1, 1}, {11, 3, 1, 1, 1}, 1, 5, 7, last), 45);
    expect_near(convolution({12, 3, 2, 1, 2}, {11, 5, 3, 2, 1}, 1, 5, 16, last), 75);
    expect_near(convolution({9, 3, 1, 1, 1}, {11, 3, 2, 1, 1}, 3, 4, 2, last), 36);
    expect_near(convolution({9, 3, 1, 2, 1}, {11, 3, 1, 0, 1}, 1, 16, 16, last), 144);
  }
}

// Of three taps the outer ones only read outside: their conditions mention no result.
TEST_F(LibraryCalls, TapsThatReachOverTheImageAreLeftOut) {
  const std::string text =
      "program p(x: f32[1960], w: f32[1440], y: written f32[3136]) library { for i < 14 { for j < 14 { for o "
      "< "
      "16 { start t0 : sum f32 free for c < 10 { for r < 3 { for s < 3 { t0 += mul((x[140*i + 10*j + c + "
      "3360*r + 240*s - 3600] if 23 < 24*r && 24*r < 48 && 23 < 24*s && 24*s < 48 else 0x0p+0:f32), w[90*o + "
      "9*c + 3*r + s]) at 9*c + 3*r + s } } } y[224*i + 16*j + o] = t0 } } } }";
  ASSERT_TRUE(cpu().has_library_for(loops::parse(text)));
  expect_near(text, 10);
}

TEST_F(LibraryCalls, ConvolutionsThatAreDrawn) {
  constexpr int DRAWN = 60;
  std::mt19937 random(24);
  const auto below = [&](int most) { return 1 + static_cast<int>(random() % static_cast<unsigned>(most)); };
  int served = 0;
  for (int draw = 0; draw < DRAWN; ++draw) {
    const auto window = [&] {
      Window made{0, below(4), below(3), below(3) - 1, below(2)};
      made.extent = made.dilation * (made.taps - 1) + below(9);
      return made;
    };
    const Window h = window(), w = window();
    const int groups = below(3), c = below(9), o = below(9);
    const std::string text = convolution(h, w, groups, c, o, draw % 2 == 0);
    if (!cpu().has_library_for(loops::parse(text))) continue;
    ++served;
    expect_near(text, std::max(c * h.taps * w.taps, 8));
  }
  EXPECT_GE(served, DRAWN / 2);
}

// One channel: what is summed up for one result is in part what is summed up for the next.
TEST_F(LibraryCalls, WindowsThatOverlapWithoutPadding) {
  expect_near(
      "program p(x: f32[600], w: f32[400], y: written f32[9216]) library { for o < 16 { for i < 576 { start "
      "t0 : sum f32 "
      "free for r < 25 { t0 += mul(x[i + r], w[25*o + r]) at r } y[576*o + i] = t0 } } }",
      25);
  expect_near(
      "program p(x: f32[1200], w: f32[400], y: written f32[15000]) library { for o < 16 { for i < 36 { for j "
      "< 26 { start "
      "t0 : sum f32 free for r < 5 { for s < 5 { t0 += mul(x[30*i + j + 30*r + s], w[25*o + 5*r + s]) at 5*r "
      "+ s } } "
      "y[936*o + 26*i + j] = t0 } } } }",
      25);
}

// Channels last and no padding: channels of neighbours touch, but they are no windows. And windows along rows
// alone, which have columns inside.
TEST_F(LibraryCalls, WindowsBesideChannels) {
  for (const char* out : {"121*o + 11*i + j", "24*11*i + 24*j + o"})
    expect_near(cat("program p(x: f32[2704], w: f32[3456], y: written f32[2904]) library { for o < 24 { for "
                    "i < 11 { for j < "
                    "11 { start t0 : sum f32 free for c < 16 { for r < 3 { for s < 3 { t0 += mul(x[208*i + "
                    "16*j + c + 208*r "
                    "+ 16*s], w[144*o + 9*c + 3*r + s]) at 9*c + 3*r + s } } } y[",
                    out, "] = t0 } } } }"),
                144);
  for (const char* x : {"16*i + 176*j + c + 176*r - 528", "176*i + 16*j + c + 16*r - 48"})
    expect_near(cat("program p(x: f32[1936], w: f32[2688], y: written f32[2904]) library { for o < 24 { for "
                    "i < 11 { for j < "
                    "11 { start t0 : sum f32 free for c < 16 { for r < 7 { t0 += mul((x[",
                    x,
                    "] if -1 < j + r - 3 && j + r - 3 < 11 else 0x0p+0:f32), w[112*o + 7*c + r]) at 7*c + r "
                    "} } y[121*o + "
                    "11*i + j] = t0 } } } }"),
                112);
}

// A slice of the channels, as where a block divides them: the pixels of what is read, or of what is stored,
// have gaps between them.
TEST_F(LibraryCalls, WindowsOfSomeOfTheChannels) {
  const auto convolution = [](const char* x, const char* y, int size) {
    return cat(
        "program p(x: f32[", size, "], w: f32[2304], y: written f32[", size,
        "]) library { for o < 16 { for i < 12 { for j < 12 { start t0 : sum f32 free for c < 16 { for r < "
        "3 { for s < 3 { t0 += mul((x[",
        x,
        "] if -1 < i + r - 1 && i + r - 1 < 12 && -1 < j + s - 1 && j + s - 1 < 12 else 0x0p+0:f32), "
        "w[144*o + 9*c + 3*r + s]) at 9*c + 3*r + s } } } y[",
        y, "] = t0 } } } }");
  };
  expect_near(convolution("576*i + 48*j + c + 576*r + 48*s - 608", "192*i + 16*j + o", 6912), 144);
  expect_near(convolution("192*i + 16*j + c + 192*r + 16*s - 208", "576*i + 48*j + o + 16", 6912), 144);
}

// Gradients of filters: what is kept steps inside of what is summed up.
TEST_F(LibraryCalls, GradientsOfFilters) {
  expect_near(
      "program p(x: f32[9216], g: f32[4608], y: written f32[512]) library { for o < 16 { for c < 8 { for i < "
      "2 { for j < 2 { start t0 : sum f32 free for n < 2 { for k < 12 { for l < 12 { t0 += mul(x[4608*n + "
      "384*k + 16*l + 192*i + 8*j + c], g[2304*n + 192*k + 16*l + o]) at 144*n + 12*k + l } } } y[32*o + 4*c "
      "+ 2*i + j] = t0 } } } } }",
      288);
  expect_near(
      "program p(x: f32[9216], g: f32[4608], y: written f32[512]) library { for o < 16 { for c < 8 { for i < "
      "2 { for j < 2 { start t0 : sum f32 free for n < 2 { for k < 12 { for l < 12 { t0 += mul(x[4608*n + "
      "576*c + 48*k + 2*l + 24*i + j], g[2304*n + 144*o + 12*k + l]) at 144*n + 12*k + l } } } y[32*o + 4*c "
      "+ 2*i + j] = t0 } } } } }",
      288);
}

// Images whose height and width are those of a run: in both layouts with padding and stride, and every second
// pixel, where a mask holds what is read inside that nothing was proven of.
TEST_F(LibraryCalls, WindowsOfARun) {
  for (const bool last : {false, true})
    for (const std::int64_t h : {1, 2, 3, 9, 20}) {
      const std::string x = last ? "24*w*r + 48*w*y + 24*s + 48*x + c - 24*w - 24"
                                 : "h*w*c + w*r + 2*w*y + s + 2*x - w - 1",
                        y = last ? "32*floor_div(w + 1, 2)*y + 32*x + o"
                                 : "floor_div(h + 1, 2)*floor_div(w + 1, 2)*o + floor_div(w + 1, 2)*y + x";
      expect_near(cat("program p(a: f32[24*h*w], b: f32[6912], z: written f32[32*floor_div(h + 1, "
                      "2)*floor_div(w + 1, 2)]; h "
                      "in 1.., w in 1..) library { for o < 32 { for y < floor_div(h + 1, 2) { for x < "
                      "floor_div(w + 1, 2) { "
                      "start t0 : sum f32 free for c < 24 { for r < 3 { for s < 3 { t0 += mul((a[",
                      x,
                      "] if -1 < 2*y + r - 1 && 2*y + r - 1 < h && -1 < 2*x + s - 1 && 2*x + s - 1 < w else "
                      "0x0p+0:f32), "
                      "b[216*o + 9*c + 3*r + s]) at 9*c + 3*r + s } } } z[",
                      y, "] = t0 } } } }"),
                  216, {h, 21 - h});
    }
  for (const std::int64_t h : {1, 2, 3, 9, 20})
    expect_near(
        "program p(a: f32[24*h*w], b: f32[768], z: written f32[32*floor_div(h + 1, 2)*floor_div(w + 1, 2)]; "
        "h in "
        "1.., w in 1..) library { for o < 32 { for y < floor_div(h + 1, 2) { for x < floor_div(w + 1, 2) { "
        "start t0 : "
        "sum f32 free for c < 24 { t0 += mul((a[48*w*y + 48*x + c] if 2*y < h && 2*x < w else 0x0p+0:f32), "
        "b[24*o + "
        "c]) at c } z[32*floor_div(w + 1, 2)*y + 32*x + o] = t0 } } } }",
        24, {h, 21 - h});
}

// A primitive that one thread made runs on others, several at once.
TEST_F(LibraryCalls, RunOnOtherThreads) {
  const loops::Program nest = loops::parse(convolution({19, 3, 1, 1, 1}, {21, 3, 1, 1, 1}, 1, 16, 24, false));
  std::unique_ptr<const runtime::Kernel> kernel;
  std::thread([&] { kernel = cpu().build(nest).kernel; }).join();
  const auto run = [&](std::vector<float>& out) {
    std::vector<float> x = drawn(2 * 16 * 19 * 21, 1), w = drawn(24 * 16 * 9, 2);
    const std::vector<loops::Memory> memory = {
        {x.data(), 0, std::ssize(x)}, {w.data(), 0, std::ssize(w)}, {out.data(), 0, std::ssize(out)}};
    runtime::RunSettings settings;
    settings.threads = 1;
    for (int repeat = 0; repeat < 20; ++repeat) EXPECT_FALSE(kernel->run(memory, {}, settings));
  };
  std::vector<float> expected(2 * 24 * 19 * 21);
  run(expected);
  std::vector<std::vector<float>> results(6, std::vector<float>(expected.size()));
  std::vector<std::thread> threads;
  for (std::vector<float>& result : results) threads.emplace_back([&] { run(result); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& result : results) EXPECT_EQ(result, expected);
}

}  // namespace
}  // namespace twinloom::tests
