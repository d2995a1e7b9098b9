// ResNet-50 with weights from a seed: example_resnet50, or example_resnet50 64 for images of 64 by 64
// elements. It prints what a compilation and a run take, and the classes that the network thinks likeliest.
#include <twinloom/twinloom.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

using twinloom::Node;
using twinloom::Operand;

// The network, and the weights that a run is given: a parameter for each, in the order of the calls.
class Network {
 public:
  explicit Network(std::int64_t size) : builder_("resnet50"), image_(parameter({1, 3, size, size}, 1)) {}

  twinloom::Graph take() {
    Node x = normed(convolution(image_, 64, 7, 2), true);
    x = builder_.calls("aten.max_pool2d_with_indices", {x, both(3), both(2), both(1)}, 2).front();
    const std::int64_t blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage)
      for (std::int64_t at = 0; at < blocks[stage]; ++at)
        x = bottleneck(x, std::int64_t{64} << stage, stage > 0 && at == 0 ? 2 : 1);
    const Node features = mean(x, {2, 3});
    const Node weight = parameter({2048, 1000}, 0.2), bias = parameter({1000}, 0.2);
    builder_.output(softmax(matmul(features, weight) + bias, -1));
    return builder_.take();
  }
  const std::vector<twinloom::Value>& arguments() const { return arguments_; }

 private:
  static twinloom::Axes both(std::int64_t along) { return {along, along}; }

  // Uniform numbers below `scale` in size, on top of `middle`.
  Node parameter(const std::vector<std::int64_t>& shape, double scale, double middle = 0) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<float>& numbers = memory_.emplace_back(static_cast<std::size_t>(count));
    for (float& number : numbers)
      number = static_cast<float>(middle + scale * (static_cast<double>(random_()) * 0x1p-31 - 1));
    arguments_.push_back(twinloom::Tensor::view(numbers.data(), shape));
    return builder_.input("p" + std::to_string(arguments_.size()), twinloom::float32,
                          {shape.begin(), shape.end()});
  }

  Node convolution(const Node& x, std::int64_t filters, std::int64_t size, std::int64_t stride) {
    const std::int64_t channels = x.port().shape[1];
    const Node weight = parameter({filters, channels, size, size},
                                  std::sqrt(6.0 / static_cast<double>(channels * size * size)));
    return builder_.call("aten.convolution",
                         {x, weight, Operand(), both(stride), both(size / 2), both(1), false, both(0), 1});
  }

  Node normed(const Node& x, bool activated) {
    const std::vector<std::int64_t> channels = {x.port().shape[1]};
    const Node weight = parameter(channels, 0.1, activated ? 1 : 0.3), bias = parameter(channels, 0.1),
               mean = parameter(channels, 0.1), variance = parameter(channels, 0.1, 1);
    const Node y = builder_
                       .calls("aten._native_batch_norm_legit_no_training",
                              {x, weight, bias, mean, variance, 0.1, 1e-5}, 3)
                       .front();
    return activated ? relu(y) : y;
  }

  Node bottleneck(const Node& x, std::int64_t width, std::int64_t stride) {
    const Node narrow = normed(convolution(x, width, 1, 1), true);
    const Node moved = normed(convolution(narrow, width, 3, stride), true);
    const Node wide = normed(convolution(moved, 4 * width, 1, 1), false);
    const bool fits = stride == 1 && x.port().shape[1] == 4 * width;
    return relu(wide + (fits ? x : normed(convolution(x, 4 * width, 1, stride), false)));
  }

  std::mt19937 random_{1};
  twinloom::Builder builder_;
  std::list<std::vector<float>> memory_;
  std::vector<twinloom::Value> arguments_;
  Node image_;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main(int count, char** words) {
  using namespace twinloom;
  try {
    Network network(count > 1 ? std::atoll(words[1]) : 224);
    const Graph graph = network.take();
    const double before = seconds();
    const Executable executable(graph, Device("cpu"));
    executable.prepare(network.arguments());
    const double compiled = seconds();
    std::vector<Value> results = executable.run(network.arguments());
    const double first = seconds();
    results = executable.run(network.arguments());
    std::printf("compiled in %.2f s, a run takes %.1f ms\n", compiled - before, (seconds() - first) * 1e3);

    const auto* likely = std::get<Tensor>(results[0]).data<float>();
    std::vector<std::size_t> classes(1000);
    std::iota(classes.begin(), classes.end(), 0);
    std::partial_sort(classes.begin(), classes.begin() + 5, classes.end(),
                      [&](std::size_t a, std::size_t b) { return likely[a] > likely[b]; });
    for (std::size_t rank = 0; rank < 5; ++rank)
      std::printf("class %zu: %.3f\n", classes[rank], likely[classes[rank]]);
    return 0;
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
