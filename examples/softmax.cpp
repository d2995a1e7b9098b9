// Softmax of the rows of a matrix whose height is known only at run time.
#include <twinloom/twinloom.h>

#include <cstdio>
#include <vector>

int main() {
  using namespace twinloom;
  try {
    Builder builder("rows");
    const Symbol n("n");
    const Value x = builder.input("x", DType::f32, {n, 4});
    const Value bias = builder.input("bias", DType::f32, {4});
    builder.output(softmax(x * 2.0 + bias, -1));
    const Executable executable = compile(builder.take(), Device::cpu());

    std::vector<float> rows(3 * 4, 1.0f);
    std::vector<float> offsets = {0.0f, 1.0f, 2.0f, 3.0f};
    const std::vector<Argument> arguments = {view_of(rows.data(), DType::f32, {3, 4}),
                                             view_of(offsets.data(), DType::f32, {4})};
    std::printf("a run needs %lld bytes\n", static_cast<long long>(executable.peak_bytes(arguments)));
    const std::vector<Output> outputs = executable.run(arguments);
    const auto* first_row = static_cast<const float*>(std::get<Tensor>(outputs[0]).data);
    std::printf("%.4f %.4f %.4f %.4f\n", first_row[0], first_row[1], first_row[2], first_row[3]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
