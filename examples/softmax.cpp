// Softmax of the rows of a matrix whose height is known only at run time.
#include <twinloom/twinloom.hpp>

#include <cstdio>
#include <vector>

int main() {
  using namespace twinloom;
  try {
    Builder builder("rows");
    const Node x = builder.input("x", float32, {"n", 4});
    const Node bias = builder.input("bias", float32, {4});
    builder.output(softmax(x * 2.0 + bias, -1));
    const Executable executable(builder.take(), Device("cpu"));

    std::vector<float> rows(3 * 4, 1.0f);
    std::vector<float> offsets = {0.0f, 1.0f, 2.0f, 3.0f};
    const std::vector<Value> arguments = {Tensor::view(rows.data(), {3, 4}),
                                          Tensor::view(offsets.data(), {4})};
    std::printf("a run needs %lld bytes\n", static_cast<long long>(executable.peak_bytes(arguments)));
    const std::vector<Value> results = executable.run(arguments);
    const float* first_row = std::get<Tensor>(results[0]).data<float>();
    std::printf("%.4f %.4f %.4f %.4f\n", first_row[0], first_row[1], first_row[2], first_row[3]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
