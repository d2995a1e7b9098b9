// Operators of ai.onnx.ml.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;
using List = std::vector<std::int64_t>;

Model of_ml(const std::string& operation, const std::vector<std::string>& inputs) {
  Model model;
  model.proto.opset_import.push_back({"ai.onnx.ml", 5});
  model.node(operation, inputs, {"y"}).output("y");
  model.node(0).domain = "ai.onnx.ml";
  return model;
}

TEST(OnnxTrees, FeaturesAreTakenFromTheLastAxis) {
  Model model = of_ml("ArrayFeatureExtractor", {"x", "at"});
  model.input("x", float32, {2, 3}).integers("at", {2, 0});
  EXPECT_EQ(numbers_of(model.read()), (Numbers{2, 0, 5, 3}));
  Model list = of_ml("ArrayFeatureExtractor", {"x", "at"});
  EXPECT_EQ(type_of(list.input("x", float32, {3}).integers("at", {1}).read()), "f32 [1, 1]");
}

TEST(OnnxTrees, NumbersAboveAThresholdAreOne) {
  Model model = of_ml("Binarizer", {"x"});
  model.input("x", float32, {3}).with_real("threshold", 1);
  EXPECT_EQ(numbers_of(model.read()), (Numbers{0, 0, 1}));
}

// One tree: feature 0 <= 1 ? leaf 0 : (feature 1 in {5, 7} ? leaf 1 : leaf 2); another of leaf 3 alone.
Model trees(const std::vector<float>& samples) {
  Model model = of_ml("TreeEnsemble", {"x"});
  model.reals("x", {static_cast<std::int64_t>(samples.size()) / 2, 2}, samples);
  model.with("n_targets", 2).with("tree_roots", List{0, 2}).with_tensor("nodes_modes", {0, 6, 0});
  model.with_tensor("nodes_splits", {1, 0, 0}).with("nodes_featureids", List{0, 1, 0});
  model.with("nodes_trueleafs", List{1, 1, 1}).with("nodes_truenodeids", List{0, 1, 3});
  model.with("nodes_falseleafs", List{0, 1, 1}).with("nodes_falsenodeids", List{1, 2, 3});
  model.with("leaf_targetids", List{0, 1, 0, 0}).with_tensor("leaf_weights", {10, 20, 30, 1});
  return model.with_tensor("membership_values", {5, 7, NAN});
}
TEST(OnnxTrees, LeavesAreAddedUpByTheirTargets) {
  const std::vector<float> samples = {1, 0, 2, 7, 2, 6, NAN, 5};
  EXPECT_EQ(numbers_of(trees(samples).read()), (Numbers{11, 0, 1, 20, 31, 0, 1, 20}));
  EXPECT_EQ(numbers_of(trees(samples).with("nodes_missing_value_tracks_true", List{1, 0, 0}).read()),
            (Numbers{11, 0, 1, 20, 31, 0, 11, 0}));
  EXPECT_EQ(numbers_of(trees({2, 6}).with("aggregate_function", 0).read()), (Numbers{15.5, 0}));
  EXPECT_EQ(numbers_of(trees({2, 6}).with("aggregate_function", 3).read()).at(0), 30);
  EXPECT_NEAR(numbers_of(trees({1, 0}).with("post_transform", 2).read()).at(1), 0.5, 1e-6);
}

TEST(OnnxTrees, BranchesMustLeadToLeaves) {
  const auto changed = [](const std::string& attribute, const List& numbers) {
    Model model = trees({1, 0});
    for (format::AttributeProto& each : model.node(0).attribute)
      if (each.name == attribute) each.ints = numbers;
    return model.error();
  };
  const std::string node = "node 'y' (TreeEnsemble, opset 5): ";
  EXPECT_EQ(changed("nodes_truenodeids", {4, 1, 3}),
            node + "attribute 'nodes_truenodeids' holds 4; there are 4");
  EXPECT_EQ(changed("nodes_falsenodeids", {3, 2, 3}), node + "node 0 is followed by 3; there are 3");
  EXPECT_EQ(changed("nodes_falsenodeids", {0, 2, 3}),
            "unsupported: " + node +
                "a tree of more than 256 levels, or whose branches lead back to it, is not supported");
  EXPECT_EQ(changed("leaf_targetids", {0, 2, 0, 0}),
            node + "attribute 'leaf_targetids' holds 2; there are 2");
  EXPECT_EQ(changed("tree_roots", {-1}), node + "attribute 'tree_roots' holds -1; there are 3");
}

}  // namespace

}  // namespace twinloom::tests
