// One graph, on the device that is named when the program runs: example_devices cpu, example_devices cuda:0.
#include <twinloom/twinloom.hpp>

#include <cstdio>
#include <vector>

int main(int count, char** words) {
  using namespace twinloom;
  try {
    Builder builder("rows");
    const Node x = builder.input("x", float32, {"n", 1000});
    builder.output(sum(softmax(x, -1) * x, {1}));
    const Device device(count > 1 ? words[1] : "cpu");
    const Executable executable(builder.take(), device, {Mode::strict});

    std::vector<float> rows(3 * 1000);
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at] = static_cast<float>(at % 97) / 16;
    const Tensor input = device.upload(Tensor::view(rows.data(), {3, 1000}));
    const std::vector<Value> results = executable.run({input});
    const Tensor result = device.download(std::get<Tensor>(results[0]));
    const float* values = result.data<float>();
    std::printf("%a %a %a\n", values[0], values[1], values[2]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
