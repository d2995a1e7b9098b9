// See plan_families.h.
#include "perf/plan_families.h"

#include <vector>

#include "core/base/text.h"

namespace twinloom::perf {

namespace {

// A text while it is written; every value has one of few shapes.
class Text {
 public:
  std::string input(const std::string& type) {
    const std::string name = cat("in", inputs_.size());
    inputs_.push_back(cat(name, ": \"", type, "\""));
    return name;
  }
  std::string add(const std::string& type, std::string_view target, const std::string& arguments) {
    const std::string name = cat("v", next_++);
    body_ += cat("        ", name, ": \"", type, "\" = torch.ops.aten.", target, "(", arguments, ")\n");
    return name;
  }
  // Of a tuple of these types, whose element `number` is used.
  std::string add_part(const std::string& type, const std::string& tuple, int number) {
    const std::string name = cat("v", next_++);
    body_ += cat("        ", name, ": \"", type, "\" = ", tuple, "[", number, "]\n");
    return name;
  }
  std::string add_tuple(std::string_view target, const std::string& arguments) {
    const std::string name = cat("v", next_++);
    body_ += cat("        ", name, " = torch.ops.aten.", target, "(", arguments, ")\n");
    return name;
  }
  void output(const std::string& name) { outputs_.push_back(name); }
  std::string take() const {
    const auto list = [](const std::vector<std::string>& names) {
      return join(names, ", ", [](const std::string& name) { return name; });
    };
    return cat("class GraphModule(torch.nn.Module):\n    def forward(self, ", list(inputs_), "):\n", body_,
               "        return (", list(outputs_), ",)\n");
  }

 private:
  std::vector<std::string> inputs_, outputs_;
  std::string body_;
  int next_ = 0;
};

const std::string matrix = "f32[512, 768]", row = "f32[768]", column = "f32[512, 1]";

std::string chain(int operators) {
  Text text;
  std::string value = text.input(matrix);
  const std::string other = text.input(matrix);
  for (int k = 0; k < operators; k += 4) {
    value = text.add(matrix, "mul.Tensor", cat(value, ", ", other));
    value = text.add(matrix, "add.Tensor", cat(value, ", 0.5"));
    value = text.add(matrix, "maximum.default", cat(value, ", ", other));
    value = text.add(matrix, "sin.default", value);
  }
  text.output(value);
  return text.take();
}

std::string fan(int operators) {
  Text text;
  const std::string value = text.add(matrix, "exp.default", text.input(matrix));
  for (int k = 0; k < operators; k += 2) {
    const std::string scaled = text.add(matrix, "mul.Tensor", cat(value, ", ", k, ".5"));
    text.output(text.add(matrix, "cos.default", scaled));
  }
  return text.take();
}

std::string fan_of_rows(int operators) {
  Text text;
  const std::string value = text.add(matrix, "sigmoid.default", text.input(matrix));
  for (int k = 0; k < operators; k += 4) {
    const std::string shifted = text.add(matrix, "add.Tensor", cat(value, ", ", k, ".25"));
    const std::string power = text.add(matrix, "mul.Tensor", cat(shifted, ", ", shifted));
    const std::string sum = text.add(column, "sum.dim_IntList", cat(power, ", [1], True"));
    text.output(text.add(column, "sqrt.default", sum));
  }
  return text.take();
}

std::string ladder(int operators) {
  Text text;
  std::string left = text.input(matrix), right = text.input(matrix);
  for (int k = 0; k < operators; k += 4) {
    const std::string half = text.add(matrix, "mul.Tensor", cat(right, ", 0.5"));
    const std::string root = text.add(matrix, "tanh.default", left);
    left = text.add(matrix, "add.Tensor", cat(left, ", ", half));
    right = text.add(matrix, "sub.Tensor", cat(right, ", ", root));
  }
  text.output(left);
  text.output(right);
  return text.take();
}

std::string axes(int operators) {
  Text text;
  std::string value = text.input(matrix);
  constexpr int operators_each = 5;  // a softmax becomes so many nodes
  for (int k = 0; k < operators; k += operators_each)
    value = text.add(matrix, "_softmax.default", cat(value, ", ", k / operators_each % 2, ", False"));
  text.output(value);
  return text.take();
}

std::string normalized(Text& text, const std::string& value) {
  const std::string scale = text.input(row), shift = text.input(row);
  const std::string tuple =
      text.add_tuple("native_layer_norm.default", cat(value, ", [768], ", scale, ", ", shift, ", 1e-05"));
  return text.add_part(matrix, tuple, 0);
}

std::string layers(int operators) {
  Text text;
  std::string value = text.input(matrix);
  const std::string mask = text.input(matrix);
  constexpr int operators_each = 43;  // a layer becomes so many nodes
  for (int k = 0; k < operators; k += operators_each) {
    const std::string scores = text.add(matrix, "mul.Tensor", cat(normalized(text, value), ", 0.125"));
    const std::string masked = text.add(matrix, "add.Tensor", cat(scores, ", ", mask));
    const std::string weights = text.add(matrix, "_softmax.default", cat(masked, ", 1, False"));
    value = text.add(matrix, "add.Tensor", cat(value, ", ", weights));
    const std::string biased =
        text.add(matrix, "add.Tensor", cat(normalized(text, value), ", ", text.input(row)));
    const std::string active = text.add(matrix, "gelu.default", biased);
    const std::string out = text.add(matrix, "add.Tensor", cat(active, ", ", text.input(row)));
    value = text.add(matrix, "add.Tensor", cat(value, ", ", out));
  }
  text.output(value);
  return text.take();
}

}  // namespace

std::array<Family, 6> plan_families() {
  return {{{"chain", chain},
           {"fan", fan},
           {"fan_of_rows", fan_of_rows},
           {"ladder", ladder},
           {"axes", axes},
           {"layers", layers}}};
}

}  // namespace twinloom::perf
