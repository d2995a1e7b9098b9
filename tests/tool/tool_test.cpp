// The program from its command line to its exit code.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

// A product of matrices, and its softmax.
constexpr std::string_view PRODUCT = R"(class GraphModule(torch.nn.Module):
    def forward(self, a: "f32[96, 640]", b: "f32[640, 80]"):
        u: "f32[96, 640, 1]" = torch.ops.aten.unsqueeze.default(a, 2);  a = None
        v: "f32[1, 640, 80]" = torch.ops.aten.unsqueeze.default(b, 0);  b = None
        p: "f32[96, 640, 80]" = torch.ops.aten.mul.Tensor(u, v);  u = v = None
        s: "f32[96, 80]" = torch.ops.aten.sum.dim_IntList(p, [1]);  p = None
        r: "f32[96, 80]" = torch.ops.aten.relu.default(s)
        return (s, r)
)";

class Tool : public testing::Test {
 protected:
  void SetUp() override {
    place.write("softmax.fx", softmax_text);
    place.write("lookup.fx", lookup_text);
  }
  Workplace place;
};

TEST_F(Tool, RunPrintsOutputsOfDrawnInputs) {
  const Outcome first = place.run("run softmax.fx --size s0=3 --seed 7 --device reference");
  EXPECT_CODE(first, 0);
  EXPECT_SAYS(first, "out0: f32[3, 8]");
  EXPECT_EQ(place.run("run softmax.fx --size s0=3 --seed 7 --device reference").output, first.output);
  EXPECT_NE(place.run("run softmax.fx --size s0=3 --seed 8 --device reference").output, first.output);
  EXPECT_SAYS(place.run("run softmax.fx --input x=zeros --size s0=1 --device reference"), "0.125 0.125");
}

TEST_F(Tool, ExpectedOutputsAreCompared) {
  EXPECT_CODE(place.run("run softmax.fx --size s0=3 --mode strict --outputs out.npz"), 0);
  const Outcome same = place.run("run softmax.fx --size s0=3 --device reference --expect out.npz --exact");
  EXPECT_CODE(same, 0);
  EXPECT_SAYS(same, "out0: ok f32[3, 8]  equal");
  const Outcome other = place.run("run softmax.fx --size s0=3 --device reference --seed 1 --expect out.npz");
  EXPECT_CODE(other, 1);
  EXPECT_SAYS(other, "out0: DIFFERENT f32[3, 8]  largest error ");
  const Outcome shape = place.run("run softmax.fx --size s0=4 --device reference --expect out.npz");
  EXPECT_CODE(shape, 1);
  EXPECT_SAYS(shape, "out0: DIFFERENT is f32[4, 8], expected f32[3, 8]");
  const Outcome generous =
      place.run("run softmax.fx --size s0=3 --device reference --seed 1 --expect out.npz --atol 10");
  EXPECT_CODE(generous, 0);
}

TEST_F(Tool, VerifyComparesBits) {
  for (const char* size : {"0", "1", "5"}) {
    const Outcome verified = place.run(std::string("verify softmax.fx --size s0=") + size);
    EXPECT_CODE(verified, 0);
    EXPECT_SAYS(verified, "verified: cpu against the evaluator, mode strict, bit for bit");
  }
  EXPECT_CODE(place.run("verify lookup.fx --mode fused"), 0);
}

TEST_F(Tool, ResultsTakeTheMemoryOfDonatedInputs) {
  place.write("line.fx", R"(class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[5, 3]"):
        y: "f32[5, 3]" = torch.ops.aten.mul.Tensor(x, 2.0)
        return (y,)
)");
  EXPECT_SAYS(place.run("explain line.fx --donate x"), "result 0 takes the memory of input 'x': 60 bytes\n");
  EXPECT_SAYS(place.run("explain line.fx --donate x"), "1 kernels, peak memory 0 bytes");
  EXPECT_SAYS(place.run("verify line.fx --donate x"), "bit for bit\n");
  EXPECT_CODE(place.run("bench line.fx --donate x --seconds 0.01"), 0);
  const Outcome other = place.run("run line.fx --donate z");
  EXPECT_CODE(other, 2);
  EXPECT_SAYS(other, "donated input 'z': the graph has no parameter of this name; it has 'x'");
  EXPECT_CODE(place.run("export line.fx --donate x --package line.twinloom"), 0);
  EXPECT_SAYS(place.run("explain line.twinloom"), "result 0 takes the memory of input 'x': 60 bytes\n");
  EXPECT_SAYS(
      place.run("run line.twinloom --donate x"),
      "--donate is for graphs that are compiled; a package knows the inputs that it was exported with");
}

TEST_F(Tool, ContractionsAreWithinBoundsOutsideStrict) {
  place.write("product.fx", PRODUCT);
  const Outcome fused = place.run("verify product.fx --mode fused");
  EXPECT_CODE(fused, 0);
  EXPECT_SAYS(fused, "mode fused, bit for bit but what is made of sums in free order");
  EXPECT_SAYS(fused, "ulp; at [");  // its order is another
  EXPECT_SAYS(place.run("verify product.fx --mode strict"), "mode strict, bit for bit\n");
  EXPECT_CODE(place.run("run product.fx --mode strict --outputs strict.npz"), 0);
  const std::string narrow = "run product.fx --mode fused --rtol 1e-6 --atol 1e-5 --expect strict.npz";
  EXPECT_CODE(place.run(narrow), 0);
  EXPECT_CODE(place.run(narrow + " --exact"), 1);
  EXPECT_CODE(place.run(narrow + " --seed 3"), 1);  // other inputs
}

// Of more elements than any machine holds.
TEST_F(Tool, WhatDoesNotRunDrawsNothing) {
  for (const char* command :
       {"explain softmax.fx", "dump softmax.fx --after fuse", "cache why-miss softmax.fx"})
    EXPECT_CODE(place.run(std::string(command) + " --size s0=1000000000000"), 0);
  EXPECT_SAYS(place.run("explain lookup.fx --input place=normal"),
              "'normal' and 'uniform' are for floating types; for i64 give LOW..HIGH");
}

TEST_F(Tool, DrawnIndicesStayInside) {
  for (int seed = 0; seed < 3; ++seed)
    EXPECT_CODE(place.run("run lookup.fx --device reference --seed " + std::to_string(seed)), 0);
  const Outcome outside = place.run("run lookup.fx --device reference --input place=10");
  EXPECT_CODE(outside, 2);
  EXPECT_SAYS(outside,
              "index 10 is out of range; expected 0 <= index < 10; it is element 0 of its tensor's memory");
}

TEST_F(Tool, ExplainAndDump) {
  const Outcome explained = place.run("explain softmax.fx --source");
  EXPECT_CODE(explained, 0);
  EXPECT_SAYS(explained, "kernel 0:");
  EXPECT_SAYS(explained, "(model.py:3)");
  // Of how many nodes an operator is, it is named once.
  const std::string named = "computes 'y'  (model.py:3)\n";
  EXPECT_NE(explained.output.find(named), std::string::npos) << explained.output;
  EXPECT_EQ(explained.output.find(named), explained.output.rfind(named)) << explained.output;
  EXPECT_SAYS(explained, "1 kernels, peak memory ");
  const Outcome dumped = place.run("dump softmax.fx --after remove_dead");
  EXPECT_CODE(dumped, 0);
  EXPECT_SAYS(dumped, "f32 [s0, 8] = mul(");
  const Outcome unknown = place.run("dump softmax.fx --after nothing");
  EXPECT_CODE(unknown, 2);
  EXPECT_SAYS(unknown, "there is no pass 'nothing'; passes are remove_dead, ");
}

// A number is written into each kernel that uses it: its operator is none that a kernel computes, but alone.
TEST_F(Tool, ExplainNamesConstantsOnlyWhereNothingElseIsComputed) {
  place.write("scaled.fx", R"(class Scaled(torch.nn.Module):
    def forward(self, x: "f32[4, 8]", z: "f32[100]"):
        number = torch.ops.aten.full.default([], 1.5)
        first = torch.ops.aten.mul.Tensor(x, number)
        second = torch.ops.aten.mul.Tensor(z, number)
        full = torch.ops.aten.full.default([3], 2.5)
        return (first, second, full)
)");
  const Outcome explained = place.run("explain scaled.fx");
  for (const char* name : {"'first'", "'second'", "'full'"})
    EXPECT_SAYS(explained, std::string("  computes ") + name + "\n");
  EXPECT_EQ(explained.output.find("computes 'number'"), std::string::npos) << explained.output;
}

TEST_F(Tool, ExplainSaysWhatBecameOfScatters) {
  place.write("scatters.fx", scatters_text);
  const Outcome explained = place.run("explain scatters.fx");
  EXPECT_CODE(explained, 0);
  EXPECT_SAYS(explained, "'one': a select of 1 at each place");
  EXPECT_SAYS(explained,
              "'many': not a select: 50 elements may be written to one place; a select asks at most 8");
  EXPECT_SAYS(explained, "1 of 2 scatters are selects");
  EXPECT_SAYS(explained, "3 kernels, peak memory ");
}

TEST_F(Tool, TextsOfGraphsAreModels) {
  place.write("sum.graph",
              "graph \"sum\"\nfact n in 0 to inf\nparameter \"x\" = %0\n%0: f32 [n, 4] = input slot 0\n"
              "%1: f32 [4, n] = view(%0) at [i0, i1] from [i1, i0]\n%2: f32 [4] = reduce sum over [1] (%1)\n"
              "result \"y\" = own %2\n");
  for (const char* command : {"run", "verify", "explain"})
    EXPECT_CODE(place.run(std::string(command) + " sum.graph --size n=3"), 0);
  const Outcome dumped = place.run("dump sum.graph --after remove_dead");
  EXPECT_SAYS(dumped, "%2: f32 [4] = reduce sum over [1] (%1)");
  EXPECT_CODE(place.run("dump sum.graph --graph 1"), 2);
  place.write("cut.graph", "graph \"sum\"\nparameter \"x\" = %0\n%0: f32 [n, 4] = inp");
  EXPECT_CODE(place.run("run cut.graph"), 2);
  place.write("free.graph",
              "graph \"free\"\nparameter \"x\" = %0\n%0: f32 [4] = input slot 0\n"
              "%1: f32 [4] = view(%0) at [i0] from [elsewhere]\nresult \"y\" = own %1\n");
  const Outcome unbound = place.run("run free.graph");
  EXPECT_CODE(unbound, 2);
  EXPECT_SAYS(unbound, "mentions elsewhere, which no parameter binds");
}

// Every element goes to place 0: places that nobody writes are 0, as without the word.
TEST_F(Tool, ATextIsNotBelievedThatPlacesAreAPermutation) {
  place.write("places.graph",
              "graph \"places\"\nparameter \"x\" = %0\n%0: f32 [64] = input slot 0\n"
              "%1: i64 [64] = constant 0\n%2: f32 [64] = constant 0x0p+0\n"
              "%3: f32 [64] = scatter replace(%2, %0, %1) at [i0] found [f0] below [64] to [f0] permutation\n"
              "result \"y\" = own %3\n");
  EXPECT_CODE(place.run("verify places.graph"), 0);
  EXPECT_EQ(place.run("dump places.graph --after remove_dead").output.find("permutation"), std::string::npos);
}

TEST_F(Tool, ListsOfOperatorsAndDevices) {
  EXPECT_SAYS(place.run("ops"), "exp  1 inputs");
  EXPECT_SAYS(place.run("ops --frontend fx"), "\nadd\n");
  const Outcome unknown = place.run("ops --frontend tf");
  EXPECT_CODE(unknown, 2);
  const Outcome devices = place.run("devices");
  EXPECT_CODE(devices, 0);
  EXPECT_SAYS(devices, "reference: ");
  EXPECT_LT(devices.output.find("cpu: "), devices.output.find("reference: "));
}

TEST_F(Tool, HelpHasExamplesAndExitCodes) {
  const Outcome help = place.run("--help");
  EXPECT_CODE(help, 0);
  EXPECT_SAYS(help,
              "Exit codes: 0 done, 1 a difference was found, 2 wrong input, 3 a bug in Twinloom, 64 wrong "
              "command line");
  for (const char* command : {"run", "verify", "bench", "explain", "dump"})
    EXPECT_SAYS(place.run(std::string(command) + " --help"), "Example: twinloom ");
  EXPECT_CODE(place.run("--version"), 0);
}

TEST_F(Tool, WrongCommandLines) {
  for (const char* wrong :
       {"", "fly", "run", "run softmax.fx --no-such-option", "run softmax.fx --threads many",
        "run softmax.fx --threads -1", "verify softmax.fx more"}) {
    EXPECT_CODE(place.run(wrong), 64);
  }
}

// A view that looks far behind the end of its input.
std::string outside_text(std::string_view size) {
  return cat("graph \"g\"\nparameter \"x\" = %0\n%0: f32 [", size,
             "] = input slot 0 name \"x\"\n%1: f32 [8] = view(%0) at [i0] from [i0 + 1000]\nresult \"y\" = "
             "own %1\n");
}

TEST_F(Tool, WrongInputs) {
  struct Row {
    const char* arguments;
    const char* words;
  };
  place.write("broken.fx", std::string(softmax_text).substr(0, 200));
  place.write("broken.npz", "no archive");
  place.write("broken.npy", "no array");
  const Row rows[] = {
      {"run nothing.fx", "error: cannot read 'nothing.fx'"},
      {"run .", "error: cannot read '.'"},
      {"run broken.fx", "error: FX graph line "},
      {"run softmax.fx --inputs broken.npz", "as an .npz archive: Not a zip archive"},
      {"run softmax.fx --input x=broken.npy", "not a usable .npy array"},
      {"run softmax.fx --input x=sometimes",
       "--input takes NAME=F.npy, NAME=F.pb or one of normal, uniform, zeros, ones, a number, LOW..HIGH"},
      {"run softmax.fx --input x=9..3", "the range 9..3 has its ends the wrong way round"},
      {"run softmax.fx --input z=ones", "--input: the graph has no parameter 'z'"},
      {"run softmax.fx --input x", "--input takes NAME=VALUE, given was 'x'"},
      {"run softmax.fx --size s1=3", "--size: there is no size 's1'; the graph's sizes are s0"},
      {"run softmax.fx --size s0=-3", "size s0 must not be negative, it is -3"},
      {"run softmax.fx --size s0=many", "size s0 must be an integer, it is 'many'"},
      {"run softmax.fx --size s0=4611686018427387904", "64 bits"},
      {"run softmax.fx --size s0=100000000000000", "no memory for a tensor of f32[100000000000000, 8]"},
      {"run softmax.fx --mode quick", "--mode must be strict, fused or fast, it is 'quick'"},
      {"run softmax.fx --relax nothing",
       "there is no relaxation 'nothing'; there are reassociate, contract, "
       "atomics, approximate, flush"},
      {"run softmax.fx --mode fused --relax contract", "--relax is for mode fast, the mode is fused"},
      {"run softmax.fx --device cpx",
       "there is no device 'cpx'; devices are cpu, reference, cuda:N and h200; did you mean 'cpu'?"},
#ifdef TWINLOOM_HAS_CUDA
      {"run softmax.fx --device h200 --size s0=2", "the device 'h200' only plans: nothing can be run on it"},
#endif
      {"run softmax.fx --isa mmx", "mmx"},
      {"run softmax.fx --graph 3", "graph 3 was asked for; the text holds 1, counted from 0"},
      {"run lookup.fx --input place=normal",
       "'normal' and 'uniform' are for floating types; for i64 give LOW..HIGH"},
      {"run lookup.fx --input place=0.5", "0.5 is not an integer that i64 can be drawn from"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = place.run(row.arguments);
    EXPECT_EQ(outcome.code, 2) << row.arguments << '\n' << outcome.output;
    EXPECT_NE(outcome.output.find(row.words), std::string::npos) << row.arguments << '\n' << outcome.output;
  }
}

// Each is refused at once, before memory is taken.
TEST_F(Tool, WhatReachesOutsideOrAsksForTooMuch) {
  struct Row {
    const char* arguments;
    const char* words;
  };
  place.write("outside.graph", outside_text("8"));
  place.write("maybe.graph", outside_text("n"));
  const auto calls = [&](const char* file, const char* type, const char* call) {
    place.write(file, cat("class M(torch.nn.Module):\n    def forward(self, x: \"", type,
                          "\"):\n        y = ", call, "\n        return (y,)\n"));
  };
  calls("unfold.fx", "f32[9]", "torch.ops.aten.unfold.default(x, 0, 3, 0)");
  calls("unbind.fx", "f32[30000000]", "torch.ops.aten.unbind.int(x)");
  calls("full.fx", "f32[2]", "torch.ops.aten.full.default([1000000000000], 1.0)");
  const Row rows[] = {
      {"run outside.graph",
       "error: view: position i0 + 1000 can lie outside axis 0 of input 0 ('x', f32 [8])"},
      {"run maybe.graph --size n=4",
       "view: position i0 + 1000 can lie outside axis 0 of input 0 ('x', f32 [n]): 1007 < n does not hold (n "
       "= 4 "
       "from axis 0 of 'x')"},
      {"run unfold.fx", "unfold 'y': the step 0 must be at least 1"},
      {"run unbind.fx", "unbind 'y': gives 30000000 tensors; at most 16384 are made"},
      {"run full.fx", "output 0: no memory for a tensor of f32[1000000000000] (4000000000000 bytes)"},
      {"run softmax.fx --size s0=100000000000000", "input 'x': no memory for a tensor of f32["},
      {"run /dev/zero", "'/dev/zero' holds more than 268435456 bytes"},
  };
  for (const Row& row : rows) {
    const Outcome outcome = place.run(row.arguments);
    EXPECT_CODE(outcome, 2) << row.arguments;
    EXPECT_SAYS(outcome, row.words) << row.arguments;
  }
}

// The parameter lies in memory as the text prints it, and holds what copy_ wrote.
TEST_F(Tool, StridesAndWrittenParametersOfTexts) {
  place.write("counter.fx",
              "class GraphModule(torch.nn.Module):\n"
              "    def forward(self, x: \"f32[2, 3][1, 2]cpu\"):\n"
              "        m: \"f32[3]\" = torch.ops.aten.as_strided.default(x, [3], [1], 1)\n"
              "        y: \"f32[2, 3]\" = torch.ops.aten.add.Tensor(x, m)\n"
              "        c: \"f32[2, 3]\" = torch.ops.aten.copy_.default(x, y)\n"
              "        return (m, c)\n");
  for (const char* device : {"cpu", "reference"}) {
    for (const char* mode : {"strict", "fused"}) {
      const Outcome verified = place.run(cat("verify counter.fx --device ", device, " --mode ", mode));
      EXPECT_CODE(verified, 0);
      EXPECT_SAYS(verified, "out1: ok f32[2, 3]  equal");
    }
  }
  EXPECT_SAYS(place.run("run counter.fx --input x=2 --device reference"), "out1: f32[2, 3]  4 4 4 4 4 4");
  EXPECT_CODE(place.run("bench counter.fx"), 0);
}

// A program that waits long for its threads keeps others from the cores that they need.
TEST(ToolThreads, SpinShortlyWhereNobodySaysOtherwise) {
  const Workplace place;
  EXPECT_SAYS(place.run_with("env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=VERBOSE", "devices"),
              "GOMP_SPINCOUNT = '2000'");
  EXPECT_SAYS(place.run_with("env -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=VERBOSE GOMP_SPINCOUNT=7", "devices"),
              "GOMP_SPINCOUNT = '7'");
  EXPECT_SAYS(
      place.run_with("env -u GOMP_SPINCOUNT OMP_DISPLAY_ENV=VERBOSE OMP_WAIT_POLICY=passive", "devices"),
      "GOMP_SPINCOUNT = '0'");
}

}  // namespace
}  // namespace twinloom::tests
