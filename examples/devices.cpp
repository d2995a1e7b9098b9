// One graph, on the device that is named when the program runs: example_devices cpu, example_devices cuda:0.
#include <twinloom/twinloom.h>

#include <cstdio>
#include <vector>

int main(int count, char** words) {
  using namespace twinloom;
  try {
    Builder builder("rows");
    const Symbol n("n");
    const Value x = builder.input("x", DType::f32, {n, 1000});
    builder.output(sum(softmax(x, -1) * x, {1}));
    const Device device = Device::named(count > 1 ? words[1] : "cpu");
    const Executable executable = compile(builder.take(), device, {.mode = Mode::strict});

    std::vector<float> rows(3 * 1000);
    for (std::size_t at = 0; at < rows.size(); ++at) rows[at] = static_cast<float>(at % 97) / 16;
    const Tensor input = device.upload(view_of(rows.data(), DType::f32, {3, 1000}));
    const std::vector<Output> outputs = executable.run(std::vector<Argument>{input});
    const Tensor result = device.download(std::get<Tensor>(outputs[0]));
    const auto* values = static_cast<const float*>(result.data);
    std::printf("%a %a %a\n", values[0], values[1], values[2]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
