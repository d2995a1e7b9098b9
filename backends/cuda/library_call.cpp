// See library_call.h.
#include "backends/cuda/library_call.h"

#include <algorithm>
#include <optional>

#include "backends/cuda/gpu.h"
#include "backends/cuda/side_streams.h"
#include "backends/cuda/stream_memory.h"
#include "core/base/error.h"

namespace twinloom::cuda {

namespace {

using cublas::functions, cublas::Handle, cublas::Owned;

// What the manual of cuBLAS recommends for Hopper (cublasSetWorkspace): 32 MiB.
constexpr std::size_t MOST_BYTES = std::size_t{32} << 20;

int library_type(ops::DType dtype) {
  switch (dtype) {
    case ops::DType::f16:
      return cublas::F16;
    case ops::DType::bf16:
      return cublas::BF16;
    default:
      CHECK(dtype == ops::DType::f32, "a product of ", ops::name(dtype));
      return cublas::F32;
  }
}

Owned described(const ColumnMatrix& matrix, ops::DType dtype, std::int64_t batch) {
  Owned made = cublas::new_matrix(library_type(dtype), std::max<std::int64_t>(matrix.rows, 1),
                                  std::max<std::int64_t>(matrix.columns, 1), matrix.column_step);
  const auto count = static_cast<std::int32_t>(batch);
  functions().check(
      functions().MatrixLayoutSetAttribute(made.get(), cublas::BATCH_COUNT, &count, sizeof count),
      "a batch of matrices");
  functions().check(functions().MatrixLayoutSetAttribute(made.get(), cublas::BATCH_STEP, &matrix.batch_step,
                                                         sizeof matrix.batch_step),
                    "the step of a batch");
  return made;
}

template <class Number>
void set(const Owned& product, int attribute, const Number& value) {
  functions().check(functions().MatmulDescSetAttribute(product.get(), attribute, &value, sizeof value),
                    "an attribute of a product");
}

// `bias`: where the addition of one is wanted its address, which need not be there yet.
Owned product_of(const MatrixCall& call, const std::byte* bias) {
  Owned made = cublas::new_product();
  for (const auto& [which, attribute] :
       {std::pair(MatrixCall::A, cublas::TRANSPOSES_A), std::pair(MatrixCall::B, cublas::TRANSPOSES_B)})
    set(made, attribute, static_cast<std::int32_t>(call.matrices[which].transposed));
  if (call.bias) {
    set(made, cublas::EPILOGUE, cublas::ADD_BIAS);
    set(made, cublas::BIAS, bias);
  }
  return made;
}

ops::DType type_of(std::size_t which, const loops::ContractionTypes& types) {
  return which == MatrixCall::A || which == MatrixCall::B ? types.left : types.out;
}

std::byte* moved(std::byte* address, std::int64_t elements, ops::DType dtype) {
  return address + elements * ops::size_of(dtype);
}

// Of the first call.
MatrixCall::Four<std::byte*> addresses_of(const MatrixCall& call, const loops::ContractionTypes& types,
                                          const LibraryCall::Operands& operands) {
  MatrixCall::Four<std::byte*> addresses = {
      call.swapped ? operands.left : operands.right, call.swapped ? operands.right : operands.left,
      call.added ? operands.epilogue[*call.added] : operands.out, operands.out};
  for (std::size_t which = 0; which < addresses.size(); ++which)
    addresses[which] = moved(addresses[which], call.matrices[which].begin, type_of(which, types));
  return addresses;
}

}  // namespace

LibraryCall::Alignments LibraryCall::alignments_of(const MatrixCall& call,
                                                   const loops::ContractionTypes& types,
                                                   const Operands& operands) {
  Alignments alignments{};
  const auto addresses = addresses_of(call, types, operands);
  for (std::size_t which = 0; which < addresses.size(); ++which) {
    std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(addresses[which]) | MOST_ALIGNED;
    for (const MatrixCall::Outer& outer : call.outer)
      bits |= static_cast<std::uintptr_t>(outer.steps[which] * ops::size_of(type_of(which, types)));
    alignments[which] = static_cast<std::uint32_t>(bits & (~bits + 1));
  }
  return alignments;
}

LibraryCall::LibraryCall(const Gpu& gpu, const MatrixCall& call, const loops::ContractionTypes& types)
    : gpu_(gpu), call_(call), types_(types) {
  for (std::size_t which = 0; which < matrices_.size(); ++which)
    matrices_[which] = described(call.matrices[which], type_of(which, types), call.batch);
  if (!call.bias) product_ = product_of(call, nullptr);
}

bool LibraryCall::choose(const Alignments& alignments) {
  const Owned preference = cublas::new_preference();
  const auto prefer = [&](int attribute, auto value) {
    functions().check(
        functions().MatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
        "a preference");
  };
  prefer(cublas::MOST_WORKSPACE_BYTES, std::uint64_t{MOST_BYTES});
  prefer(cublas::REDUCTIONS, types_.out == ops::DType::f32 ? cublas::ANY_SUMS : cublas::SUMS_IN_F32);
  for (std::size_t which = 0; which < alignments.size(); ++which)
    prefer(cublas::ALIGNMENT_OF_A + static_cast<int>(which), alignments[which]);
  int found = 0;
  alignas(MOST_ALIGNED) static constexpr std::byte SOME_BIAS[MOST_ALIGNED] = {};
  const Owned product = product_of(call_, SOME_BIAS);
  const cublas::Status status = functions().MatmulAlgoGetHeuristic(
      cublas::handle_of(gpu_), product.get(), matrices_[MatrixCall::A].get(), matrices_[MatrixCall::B].get(),
      matrices_[MatrixCall::C].get(), matrices_[MatrixCall::D].get(), preference.get(), 1, &chosen_, &found);
  return status == 0 && found == 1 && chosen_.state == 0;
}

std::unique_ptr<const LibraryCall> LibraryCall::make(const Gpu& gpu, const MatrixCall& call,
                                                     const loops::ContractionTypes& types,
                                                     const Alignments& alignments) {
  std::unique_ptr<LibraryCall> made(new LibraryCall(gpu, call, types));
  return made->choose(alignments) ? std::move(made) : nullptr;
}

void LibraryCall::run_one(const MatrixCall::Four<std::byte*>& addresses, const std::byte* bias,
                          void* workspace, CUstream stream) const {
  // Without products the factors are not read.
  const float alpha = call_.depth > 0 ? 1 : 0, beta = call_.added ? 1 : 0;
  const auto& [a, b, c, d] = addresses;
  const auto& [of_a, of_b, of_c, of_d] = matrices_;
  const Owned product = call_.bias ? product_of(call_, bias) : product_;
  functions().check(functions().Matmul(cublas::handle_of(gpu_), product.get(), &alpha, a, of_a.get(), b,
                                       of_b.get(), &beta, c, of_c.get(), d, of_d.get(), &chosen_.algorithm,
                                       workspace, chosen_.workspace_bytes, stream),
                    "a product");
}

MatrixCall::Four<std::byte*> LibraryCall::addresses_of_call(MatrixCall::Four<std::byte*> first,
                                                            std::int64_t number) const {
  for (auto outer = call_.outer.rbegin(); outer != call_.outer.rend(); number /= outer->extent, ++outer)
    for (std::size_t which = 0; which < first.size(); ++which)
      first[which] =
          moved(first[which], number % outer->extent * outer->steps[which], type_of(which, types_));
  return first;
}

void LibraryCall::run(const Operands& operands, CUstream stream, const std::string& user) const {
  const ColumnMatrix& results = call_.matrices[MatrixCall::D];
  std::int64_t calls = call_.batch > 0 && results.rows > 0 && results.columns > 0 ? 1 : 0;
  for (const MatrixCall::Outer& outer : call_.outer) calls *= outer.extent;
  if (calls == 0) return;
  const auto first = addresses_of(call_, types_, operands);
  const std::byte* bias =
      call_.bias ? moved(operands.epilogue[*call_.bias], call_.bias_begin, types_.out) : nullptr;
  // A call of a few of a batch's matrices leaves most of a GPU to others.
  constexpr std::int64_t AT_ONCE = 4;
  const std::int64_t parts = std::min(calls, AT_ONCE);
  const Fork fork(gpu_, stream, static_cast<std::size_t>(parts));
  for (std::int64_t part = 0; part < parts; ++part) {
    const CUstream side = fork[static_cast<std::size_t>(part)];
    std::optional<StreamMemory> workspace;
    if (chosen_.workspace_bytes > 0)
      workspace.emplace(gpu_, static_cast<std::int64_t>(chosen_.workspace_bytes), side, user);
    for (std::int64_t number = part; number < calls; number += parts)
      run_one(addresses_of_call(first, number), bias, workspace ? workspace->data() : nullptr, side);
  }
}

}  // namespace twinloom::cuda
