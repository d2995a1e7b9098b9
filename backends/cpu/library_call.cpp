// See library_call.h.
#include "backends/cpu/library_call.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "backends/cpu/library_epilogue.h"
#include "backends/cpu/library_layouts.h"
#include "backends/cpu/library_packing.h"
#include "backends/cpu/packed_memory.h"
#include "core/base/error.h"

namespace twinloom::cpu {
namespace {

using loops::Contraction, loops::known;
using onednn::functions, onednn::Handle, onednn::Owned;

std::optional<int> library_type(ops::DType dtype) {
  constexpr std::pair<ops::DType, int> TYPES[] = {
      {ops::DType::f16, onednn::F16}, {ops::DType::bf16, onednn::BF16}, {ops::DType::f32, onednn::F32},
      {ops::DType::i32, onednn::S32}, {ops::DType::i8, onednn::S8},     {ops::DType::u8, onednn::U8}};
  const auto* found = std::ranges::find(TYPES, dtype, &std::pair<ops::DType, int>::first);
  return found == std::end(TYPES) ? std::nullopt : std::optional(found->second);
}

std::int64_t bytes_of(int type) {
  switch (type) {
    case onednn::F32:
    case onednn::S32:
      return 4;
    case onednn::S8:
    case onednn::U8:
      return 1;
    default:
      return 2;
  }
}

constexpr std::array NUMBERS = {onednn::DESTINATION, onednn::SOURCE, onednn::WEIGHTS};

std::string_view implementation_of(Handle primitive_desc) {
  const char* name = nullptr;
  functions().primitive_desc_query(primitive_desc, onednn::QUERY_IMPLEMENTATION, 0, &name);
  return name != nullptr ? name : "";
}

// The implementation of last resort is a loop over elements.
bool is_fast(Handle primitive_desc) {
  const std::string_view name = implementation_of(primitive_desc);
  return !name.empty() && !name.starts_with("ref");
}

// This one finds the operands of an epilogue by where a result lies, as if there were no gaps between rows.
bool needs_rows_without_gaps(Handle primitive_desc) {
  return implementation_of(primitive_desc).starts_with("gemm");
}

}  // namespace

// What a primitive is given: out, left, right, as its own roles are.
struct LibraryCall::Wishes {
  std::array<Owned, 3> given;          // as the primitive sees them where it does not say otherwise
  std::array<std::int64_t, 3> begins;  // elements
  std::array<int, 3> dtypes;
  std::array<std::vector<loops::Copied::Axis>, 3> copies =
      {};  // of operands that are copied first; else empty
  std::array<std::shared_ptr<const void>, 3> contents = {};  // of constants
  std::array<bool, 3> have_zeros = {};  // zero points
  bool turned = false;
  bool has_gaps = false;             // between rows of a product's results
  std::vector<Owned> operands = {};  // of the epilogue
  Owned bias = nullptr;              // its first step, where that adds one number for each column or channel
};

class LibraryCall::Maker {
 public:
  Maker(const loops::ContractionCall& call, const loops::ContractionTypes& types,
        const ConstantFactors& constants, std::optional<std::size_t> in_results, Serves serves)
      : of_(call.contraction),
        epilogue_(call.epilogue),
        types_(types),
        in_results_(in_results),
        serves_(serves),
        contents_{nullptr, constants.left, constants.right} {}

  std::unique_ptr<const LibraryCall> make() {
    const auto out = library_type(types_.out), left = library_type(types_.left),
               right = library_type(types_.right);
    if (!out || !left || !right) return nullptr;
    // Without such instructions sums of two products are clipped to 16 bits.
    const bool has_integers = (functions().get_effective_cpu_isa() & onednn::HAS_INTEGER_PRODUCTS) != 0;
    if (of_.sums != ops::DType::f32 && !has_integers) return nullptr;
    dtypes_ = {*out, *left, *right};
    const bool is_made = !is_better_convolution() && add_product(of_, {}, {});
    if (is_made || add_convolution(of_, false)) return std::move(made_);
    if (!of_.windows.empty()) return nullptr;
    if (add_convolution(loops::swapped(of_), true) || add_product_of_copies()) return std::move(made_);
    return add_product(of_, {}, {}) ? std::move(made_) : nullptr;
  }

 private:
  using Axes = std::vector<loops::Copied::Axis>;

  // Whether rows or columns are several axes, as of every second element of an image's rows: a product for
  // each of the outer ones is small, where a convolution takes them all. Or it is of f32, deep, and has few
  // rows and columns: a product takes these by 64, and for the rest longer than its share (an EPYC,
  // 2026-11-28: of 49 or 196 rows, depth 256 to 960 and 16 to 544 columns that are no multiple of 64 a
  // convolution is 0.96 to 1.47 times as fast on two threads, 1.1 in the mean, of 784 rows as fast, of 4 or
  // 16 rows or of depth 64 0.6 to 1.3).
  bool is_better_convolution() const {
    constexpr std::int64_t DEEP = 160, FEW_ROWS = 32, MANY_ROWS = 512, BLOCK = 64, MANY_COLUMNS = 1024;
    const auto product = loops::matrix_product_of(of_);
    if (!product) return false;
    const bool has_rows_apart = std::ranges::any_of(
        product->batch, [](const Contraction::Axis& axis) { return axis.left == 0 || axis.right == 0; });
    const std::int64_t rows = known(product->rows.extent), columns = known(product->columns.extent);
    return has_rows_apart || (product->batch.empty() && types_.left == ops::DType::f32 &&
                              known(product->depth.extent) >= DEEP && rows >= FEW_ROWS && rows < MANY_ROWS &&
                              columns % BLOCK != 0 && columns < MANY_COLUMNS);
  }

  bool add_product_of_copies() {
    const loops::Copied left = loops::with_left_copied(of_);
    if (add_product(left.contraction, left.axes, {})) return true;
    const loops::Copied right = loops::with_left_copied(loops::swapped(of_));
    if (add_product(loops::swapped(right.contraction), {}, right.axes)) return true;
    const loops::Copied both = loops::with_left_copied(loops::swapped(left.contraction));
    return add_product(loops::swapped(both.contraction), left.axes, both.axes);
  }

  // c^T = b^T a^T where results are neighbours along rows.
  bool add_product(Contraction contraction, const Axes& left_copied, const Axes& right_copied) {
    auto product = loops::matrix_product_of(contraction);
    if (!product || product->batch.size() + 2 > onednn::MOST_DIMENSIONS) return false;
    if (!copied_layout(left_copied).is_plain() || !copied_layout(right_copied).is_plain()) return false;
    Wishes wishes;
    wishes.dtypes = dtypes_, wishes.contents = contents_;
    wishes.turned = known(product->columns.out) != 1 && known(product->columns.extent) > 1;
    if (wishes.turned) {
      contraction = loops::swapped(contraction);
      product = loops::matrix_product_of(contraction);
      if (!product) return false;
      std::swap(wishes.dtypes[1], wishes.dtypes[2]);
      std::swap(wishes.contents[1], wishes.contents[2]);
    }
    wishes.copies[1] = wishes.turned ? right_copied : left_copied;
    wishes.copies[2] = wishes.turned ? left_copied : right_copied;
    wishes.begins = begins_of(contraction), wishes.have_zeros = have_zeros(contraction);
    // What is copied is read where it begins.
    if (!left_copied.empty()) wishes.begins[wishes.turned ? 2 : 1] = known(of_.left_begin);
    if (!right_copied.empty()) wishes.begins[wishes.turned ? 1 : 2] = known(of_.right_begin);
    const Layouts layouts = layouts_of(*product, of_.operands.size());
    if (!layouts.are_plain()) return false;
    wishes.has_gaps = !layouts.out.is_row_major();
    describe(layouts, wishes);
    if (has_bias(layouts, layouts.out.dims.size() - 1)) wishes.bias = wishes.operands[*epilogue_[0].operand];
    const bool packs = wishes.contents[2] != nullptr && wishes.copies[2].empty() && product->batch.empty();
    const Owned right =
        packs ? onednn::described_in_any_layout(layouts.right.dims, wishes.dtypes[2]) : wishes.given[2];
    Handle primitive_desc = nullptr;
    if (functions().matmul_primitive_desc_create(&primitive_desc, functions().engine, wishes.given[1].get(),
                                                 right.get(), wishes.bias.get(), wishes.given[0].get(),
                                                 attributes_for(wishes).get()) != 0)
      return false;
    return finish(primitive_desc, wishes);
  }

  bool add_convolution(const Contraction& contraction, bool turned) {
    const auto convolution = loops::convolution_of(contraction);
    const auto layouts = convolution ? layouts_of(*convolution, of_.operands.size()) : std::nullopt;
    if (!layouts || !layouts->are_plain()) return false;
    std::vector<std::int64_t> strides, dilations, before, after;
    for (const loops::Convolution::Dimension& each : convolution->dimensions) {
      strides.push_back(each.stride), dilations.push_back(each.dilation - 1);
      before.push_back(each.before), after.push_back(std::max<std::int64_t>(each.after(), 0));
    }
    Wishes wishes{{}, begins_of(contraction), dtypes_, {}, contents_, have_zeros(contraction), turned};
    if (turned) {
      std::swap(wishes.dtypes[1], wishes.dtypes[2]);
      std::swap(wishes.contents[1], wishes.contents[2]);
    }
    wishes.begins[1] += convolution->left_begin;
    describe(*layouts, wishes);
    if (has_bias(*layouts, 1)) wishes.bias = onednn::described({layouts->out.dims[1]}, onednn::F32, {1});
    const auto wish = [&](const Layout& layout, std::size_t which) {
      const int dtype = wishes.dtypes[which];
      if (!layout.is_channels_last()) return onednn::described_in_any_layout(layout.dims, dtype);
      if (!layout.has_gaps()) return wishes.given[which];
      const Layout packed = layout.channels_last();  // with gaps there is a loop over elements alone
      return onednn::described(packed.dims, dtype, packed.strides);
    };
    const Owned out = wish(layouts->out, 0), left = wish(layouts->left, 1),
                right = onednn::described_in_any_layout(layouts->right.dims, wishes.dtypes[2]);
    Handle primitive_desc = nullptr;
    if (functions().convolution_forward_primitive_desc_create(
            &primitive_desc, functions().engine, onednn::FORWARD_INFERENCE, onednn::CONVOLUTION_AUTO,
            left.get(), right.get(), wishes.bias.get(), out.get(), strides.data(), dilations.data(),
            before.data(), after.data(), attributes_for(wishes).get()) != 0)
      return false;
    return finish(primitive_desc, wishes);
  }

  // How what is copied lies in its buffer.
  static Layout copied_layout(const Axes& axes) {
    Layout layout;
    for (const loops::Copied::Axis& axis : axes) layout.add(known(axis.extent), known(axis.step));
    layout.settle();
    return layout;
  }

  // Whether the first step adds one number for each element along a dimension of the results.
  bool has_bias(const Layouts& layouts, std::size_t along) const {
    if (of_.sums != ops::DType::f32 || epilogue_.empty() ||
        epilogue_[0].kind != loops::EpilogueStep::Kind::add || !epilogue_[0].operand ||
        epilogue_[0].operand == in_results_)
      return false;
    const Layout& operand = layouts.operands[*epilogue_[0].operand];
    for (std::size_t d = 0; d < operand.dims.size(); ++d)
      if (operand.dims[d] != (d == along ? layouts.out.dims[d] : 1)) return false;
    return operand.dims[along] == 1 || operand.strides[along] == 1;
  }

  static std::array<std::int64_t, 3> begins_of(const Contraction& of) {
    return {known(of.out_begin), known(of.left_begin), known(of.right_begin)};
  }

  static std::array<bool, 3> have_zeros(const Contraction& of) {
    return {false, !of.left_zero.is_none(), !of.right_zero.is_none()};
  }

  void describe(const Layouts& layouts, Wishes& wishes) const {
    const auto described = [](const Layout& layout, int dtype) {
      return onednn::described(layout.dims, dtype, layout.strides);
    };
    wishes.given = {described(layouts.out, wishes.dtypes[0]), described(layouts.left, wishes.dtypes[1]),
                    described(layouts.right, wishes.dtypes[2])};
    for (const Layout& operand : layouts.operands) wishes.operands.push_back(described(operand, onednn::F32));
  }

  Owned attributes_for(const Wishes& wishes) const {
    const auto steps = steps_behind_bias(wishes);
    if (steps.empty() && wishes.have_zeros == decltype(wishes.have_zeros){})
      return {functions().attributes, [](Handle) {}};
    Owned attributes = onednn::new_attributes();
    if (!steps.empty()) add_steps(attributes.get(), steps, wishes.operands, in_results_);
    constexpr int ONE_FOR_ALL = 0;
    for (std::size_t which = 0; which < NUMBERS.size(); ++which)
      if (wishes.have_zeros[which])
        onednn::check(
            functions().primitive_attr_set_zero_points_mask(attributes.get(), NUMBERS[which], ONE_FOR_ALL),
            "a zero point");
    return attributes;
  }

  std::span<const loops::EpilogueStep> steps_behind_bias(const Wishes& wishes) const {
    return std::span(epilogue_).subspan(wishes.bias == nullptr ? 0 : 1);
  }

  bool finish(Handle primitive_desc, const Wishes& wishes) {
    const bool misses_operands =
        wishes.has_gaps && !wishes.operands.empty() && needs_rows_without_gaps(primitive_desc);
    const bool serves = serves_ == Serves::any || is_fast(primitive_desc);
    if (!serves || misses_operands || moves_result(primitive_desc, wishes)) {
      functions().primitive_desc_destroy(primitive_desc);
      return false;
    }
    made_.reset(new LibraryCall);
    made_->zero_ = onednn::described({1}, onednn::S32, {1});
    constexpr int QUERIES[] = {onednn::QUERY_DESTINATION, onednn::QUERY_SOURCE, onednn::QUERY_WEIGHTS};
    for (std::size_t which = 0; which < wishes.given.size(); ++which) {
      Operand& operand = made_->operands_[which];
      operand.number = NUMBERS[which];
      operand.content = wishes.contents[which];
      operand.has_zero = wishes.have_zeros[which];
      operand.begin = wishes.begins[which] * bytes_of(wishes.dtypes[which]);
      operand.given = operand.used = wishes.given[which];
      if (!wishes.copies[which].empty())
        copy(operand, wishes.copies[which], wishes.dtypes[which]);
      else
        reorder(operand, functions().primitive_desc_query_md(primitive_desc, QUERIES[which], 0));
    }
    add_operands_of_epilogue(wishes);
    made_->turned_ = wishes.turned;
    made_->primitive_ = onednn::primitive_of(primitive_desc);
    return true;
  }

  void add_operands_of_epilogue(const Wishes& wishes) {
    const auto add = [&](int number, std::size_t operand, const Owned& description) {
      made_->beside_.push_back({number, operand, known(of_.operands[operand].begin), description});
    };
    if (wishes.bias != nullptr) add(onednn::BIAS, *epilogue_[0].operand, wishes.bias);
    const auto steps = steps_behind_bias(wishes);
    for (std::size_t number = 0; number < steps.size(); ++number)
      if (const auto& operand = steps[number].operand; operand && operand != in_results_)
        add(onednn::operand_of_post_op(number), *operand, wishes.operands[*operand]);
  }

  // Whether it stores its result in another order than the operands of the epilogue have, which it would
  // read.
  static bool moves_result(Handle primitive_desc, const Wishes& wishes) {
    const Handle stored = functions().primitive_desc_query_md(primitive_desc, onednn::QUERY_DESTINATION, 0);
    return !wishes.operands.empty() && functions().memory_desc_equal(wishes.given[0].get(), stored) == 0;
  }

  // In the order in which a product finds one axis where the buffer has several.
  static void copy(Operand& operand, const Axes& axes, int dtype) {
    const Layout from = copied_layout(axes);
    Layout to;
    for (const loops::Copied::Axis& axis : axes) to.add(known(axis.extent), known(axis.copy_step));
    to.settle();
    operand.given = onednn::described(from.dims, dtype, from.strides);
    operand.copied = onednn::described(to.dims, dtype, to.strides);
    make_reorder(operand);
  }

  // As the primitive wants it, in place of what is given.
  static void reorder(Operand& operand, Handle wanted) {
    if (functions().memory_desc_equal(operand.given.get(), wanted) != 0) return;
    Handle clone = nullptr;
    onednn::check(functions().memory_desc_clone(&clone, wanted), "a description of memory");
    operand.copied = operand.used = Owned(clone, functions().memory_desc_destroy);
    make_reorder(operand);
  }

  static void make_reorder(Operand& operand) {
    operand.copied_bytes = functions().memory_desc_get_size(operand.copied.get());
    operand.reorder = operand.number == onednn::DESTINATION
                          ? onednn::reorder_of(operand.copied.get(), operand.given.get())
                          : onednn::reorder_of(operand.given.get(), operand.copied.get());
  }

  const Contraction& of_;
  const std::vector<loops::EpilogueStep>& epilogue_;
  const loops::ContractionTypes& types_;
  std::optional<std::size_t> in_results_;
  Serves serves_;
  std::array<std::shared_ptr<const void>, 3> contents_;
  std::array<int, 3> dtypes_{};
  std::unique_ptr<LibraryCall> made_;
};

std::unique_ptr<const LibraryCall> LibraryCall::make(const loops::ContractionCall& call,
                                                     const loops::ContractionTypes& types,
                                                     const ConstantFactors& constants,
                                                     std::optional<std::size_t> in_results, Serves serves) {
  return Maker(call, types, constants, in_results, serves).make();
}

std::shared_ptr<std::byte> LibraryCall::copy_of(std::size_t which, void* address) const {
  const Operand& operand = operands_[which];
  if (operand.number == onednn::DESTINATION) return call_memory(operand.copied_bytes);
  if (operand.content != nullptr) {
    std::call_once(once_[which], [&] {
      kept_[which] = packed_memory(
          {operand.content, address, operand.copied_bytes, operand.given, operand.copied},
          [&](std::byte* copy) { pack(operand.given.get(), address, operand.copied.get(), copy); });
    });
    return kept_[which];
  }
  auto memory = call_memory(operand.copied_bytes);
  run_reorder(operand.reorder, operand.given.get(), address, operand.copied.get(), memory.get());
  return memory;
}

std::unique_ptr<Execution> LibraryCall::new_execution() const {
  auto made = std::make_unique<Execution>(primitive_);
  for (const Operand& operand : operands_) made->add(operand.number, operand.used.get());
  for (const Operand& operand : operands_)
    if (operand.has_zero) made->add(onednn::zero_point_of(operand.number), zero_.get());
  for (const Beside& each : beside_) made->add(each.number, each.description.get());
  return made;
}

void LibraryCall::run(const Operands& operands) const {
  std::unique_ptr<Execution> execution = executions_.take();
  if (execution == nullptr) execution = new_execution();
  std::array<void*, 3> addresses = {operands.out, turned_ ? operands.right : operands.left,
                                    turned_ ? operands.left : operands.right};
  std::array<std::shared_ptr<std::byte>, 3> copies;
  for (std::size_t which = 0; which < operands_.size(); ++which) {
    const Operand& operand = operands_[which];
    addresses[which] = static_cast<std::byte*>(addresses[which]) + operand.begin;
    const bool is_copied = operand.reorder.handle != nullptr;
    if (is_copied) copies[which] = copy_of(which, addresses[which]);
    execution->set(which, is_copied ? copies[which].get() : addresses[which]);
  }
  std::size_t argument = operands_.size();
  std::array<std::int32_t, 3> zeros = {0, operands.left_zero, operands.right_zero};
  if (turned_) std::swap(zeros[1], zeros[2]);
  for (std::size_t which = 0; which < operands_.size(); ++which)
    if (operands_[which].has_zero) execution->set(argument++, &zeros[which]);
  for (const Beside& each : beside_)
    execution->set(argument++, static_cast<float*>(operands.epilogue[each.operand]) + each.begin);
  execution->run();
  const Operand& out = operands_[0];
  if (out.reorder.handle != nullptr)
    run_reorder(out.reorder, out.used.get(), copies[0].get(), out.given.get(), addresses[0]);
  executions_.give_back(std::move(execution));
}

}  // namespace twinloom::cpu
