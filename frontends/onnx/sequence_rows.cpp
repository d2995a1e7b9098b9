// Sequences and optionals, whose lengths are known while the model is read; what is in them is computed by
// the run.
#include <algorithm>
#include <array>

#include "core/graph/views.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using index::Expr;
using ops::DType;

constexpr std::size_t longest = 1 << 14;

AnyValues identity(const Call& call) { return {call.value(0)}; }

// A place among `count` elements; a negative one counts from the end.
std::ptrdiff_t place(const Call& call, std::size_t input, std::size_t count) {
  const std::int64_t given = call.integer(input), size = static_cast<std::int64_t>(count);
  if (given < -size || given >= size) call.fail("place ", given, " lies outside of a sequence of ", size);
  return static_cast<std::ptrdiff_t>(given < 0 ? given + size : given);
}

AnyValues sequence_construct(const Call& call) { return {Sequence(call.tensors())}; }
AnyValues sequence_empty(const Call& call) {
  call.ignore({"dtype"});
  return {Sequence()};
}
Values sequence_at(const Call& call) {
  const Sequence sequence = call.sequence(0);
  return {sequence[static_cast<std::size_t>(place(call, 1, sequence.size()))]};
}
AnyValues sequence_insert(const Call& call) {
  Sequence sequence = call.sequence(0);
  if (sequence.size() >= longest) call.unsupported("a sequence of more than ", longest, " tensors");
  const auto end = static_cast<std::ptrdiff_t>(sequence.size());
  const bool is_at_end = !call.has(2) || call.integer(2) == end;
  sequence.insert(sequence.begin() + (is_at_end ? end : place(call, 2, sequence.size())), call.tensor(1));
  return {sequence};
}
AnyValues sequence_erase(const Call& call) {
  Sequence sequence = call.sequence(0);
  if (sequence.empty()) call.fail("the sequence is empty");
  sequence.erase(sequence.begin() + (call.has(1) ? place(call, 1, sequence.size())
                                                 : static_cast<std::ptrdiff_t>(sequence.size()) - 1));
  return {sequence};
}
Values sequence_length(const Call& call) {
  return {call.builder().constant(static_cast<std::int64_t>(call.sequence(0).size()), DType::i64)};
}

Values concat_from_sequence(const Call& call) {
  const Sequence sequence = call.sequence(0);
  if (sequence.empty()) call.fail("the sequence is empty");
  if (!call.has_attribute("axis")) call.fail("needs attribute 'axis'");
  const bool is_new = call.truth("new_axis", false);
  const int axis = call.axis(call.integer("axis", 0), sequence[0].rank() + (is_new ? 1 : 0));
  return {is_new ? graph::stack(sequence, axis) : graph::concat(sequence, axis)};
}

// Parts of one element, of one given size, of which the last may be smaller, or of given sizes.
std::vector<Expr> part_sizes(const Call& call, const Tensor& x, int axis) {
  const bool is_one_size = call.has(1) && call.tensor(1).rank() == 0;
  if (call.has(1) && !is_one_size) return call.sizes(1);
  const auto size = index::constant_of(x.size(axis));
  if (!size) call.unsupported("a symbolic number of parts");
  const std::int64_t part = is_one_size ? call.integer(1) : 1;
  if (part < 1 || *size / part > static_cast<std::int64_t>(longest))
    call.fail("parts of ", part, " elements of an axis of ", *size);
  std::vector<Expr> sizes;
  for (std::int64_t at = 0; at < *size; at += part) sizes.emplace_back(std::min(part, *size - at));
  return sizes;
}
AnyValues split_to_sequence(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer("axis", 0), x.rank());
  const bool keeps = call.truth("keepdims", true) || call.has(1);
  Sequence parts = graph::split(x, part_sizes(call, x, axis), axis);
  if (!keeps)
    for (Tensor& part : parts) part = graph::select(part, axis, 0);
  return {parts};
}

// The body for the elements of the sequences at each place, beside tensors that are the same for all.
AnyValues sequence_map(const Call& call) {
  const std::size_t count = call.sequence(0).size();
  std::vector<Sequence> results(call.outputs());
  for (std::size_t at = 0; at < count; ++at) {
    AnyValues inputs;
    for (std::size_t input = 0; input < call.count(); ++input) {
      const Value value = call.value(input);
      const auto* sequence = std::get_if<Sequence>(&value);
      if (sequence != nullptr && sequence->size() != count)
        call.fail("the sequences have ", count, " and ", sequence->size(), " elements");
      if (sequence == nullptr) inputs.push_back(value);
      if (sequence != nullptr) inputs.emplace_back((*sequence)[at]);
    }
    const AnyValues outputs = call.run("body", inputs);
    if (outputs.size() != results.size())
      call.fail("the body has ", outputs.size(), " outputs in place of ", results.size());
    for (std::size_t r = 0; r < results.size(); ++r)
      results[r].push_back(call.tensor_in(outputs[r], "an output of the body"));
  }
  call.ignore({"body"});
  return {results.begin(), results.end()};
}

AnyValues optional(const Call& call) {
  call.ignore({"type"});
  if (call.has(0)) return {call.value(0)};
  return {std::monostate()};
}
bool has_element(const Call& call) {
  return call.has(0) && !std::holds_alternative<std::monostate>(call.value(0));
}
AnyValues optional_get_element(const Call& call) {
  if (!has_element(call)) call.fail("the optional has no value");
  return {call.value(0)};
}
Values optional_has_element(const Call& call) {
  return {call.builder().constant(has_element(call), DType::b8)};
}

constexpr std::array rows = {
    any_row("Identity", identity, Narrow::read),
    Row{"ConcatFromSequence", concat_from_sequence},
    any_row("Optional", optional, Narrow::read),
    any_row("OptionalGetElement", optional_get_element, Narrow::read),
    Row{"OptionalHasElement", optional_has_element, 1, nullptr, Narrow::read},
    Row{"SequenceAt", sequence_at},
    any_row("SequenceConstruct", sequence_construct),
    any_row("SequenceEmpty", sequence_empty),
    any_row("SequenceErase", sequence_erase),
    any_row("SequenceInsert", sequence_insert),
    Row{"SequenceLength", sequence_length},
    any_row("SequenceMap", sequence_map),
    any_row("SplitToSequence", split_to_sequence),
};

}  // namespace

std::span<const Row> sequence_rows() { return rows; }

}  // namespace twinloom::onnx
