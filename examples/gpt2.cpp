// The next tokens of a language model, the likeliest each: example_gpt2 MODEL.onnx COUNT TOKEN...
//
// For models whose first result is logits [batch, sequence, tokens], whose input `input_ids` is the tokens so
// far [batch, sequence], and whose other inputs, if any, are as `input_ids`: `attention_mask` is 1 and
// `position_ids` count.
#include <twinloom/twinloom.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

namespace {

using twinloom::Tensor;

// What a parameter is given for these tokens.
std::vector<std::int64_t> elements_of(const std::string& parameter, const std::vector<std::int64_t>& tokens) {
  std::vector<std::int64_t> elements = tokens;
  if (parameter == "attention_mask") std::fill(elements.begin(), elements.end(), 1);
  if (parameter == "position_ids") std::iota(elements.begin(), elements.end(), 0);
  return elements;
}

std::int64_t next_token(const twinloom::Executable& model, const std::vector<twinloom::Port>& parameters,
                        const std::vector<std::int64_t>& tokens) {
  const auto length = static_cast<std::int64_t>(tokens.size());
  std::vector<std::vector<std::int64_t>> memory;
  for (const twinloom::Port& parameter : parameters) memory.push_back(elements_of(parameter.name, tokens));
  std::vector<twinloom::Value> arguments;
  for (std::vector<std::int64_t>& elements : memory)
    arguments.push_back(Tensor::view(elements.data(), {1, length}));
  const auto results = model.run(arguments);
  const auto logits = std::get<Tensor>(results.at(0));
  const std::vector<std::int64_t> shape = logits.shape();
  if (shape.size() != 3 || shape[1] != length)
    throw twinloom::Error(twinloom::Code::invalid, "the first result is no [batch, sequence, tokens]");
  const float* last = logits.data<float>() + (length - 1) * shape[2];
  return std::max_element(last, last + shape[2]) - last;
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: %s MODEL.onnx COUNT TOKEN...\n", words[0]);
    return 2;
  }
  try {
    const twinloom::Graph graph = twinloom::Graph::load(words[1]);
    const twinloom::Executable model(graph, twinloom::Device("cpu"));
    std::vector<std::int64_t> tokens;
    for (int at = 3; at < count; ++at) tokens.push_back(std::atoll(words[at]));
    for (std::int64_t left = std::atoll(words[2]); left > 0; --left) {
      tokens.push_back(next_token(model, graph.parameters(), tokens));
      std::printf("%lld\n", static_cast<long long>(tokens.back()));
    }
    return 0;
  } catch (const twinloom::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
