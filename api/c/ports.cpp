// See ports.h.
#include "api/c/ports.h"

#include <algorithm>

#include "api/c/dlpack.h"
#include "api/c/handles.h"

namespace twinloom::c {

Port::Port(std::string name, ops::DType dtype, const graph::Shape& shape)
    : name_(std::move(name)), kind_(TWINLOOM_TENSOR), dtype_(dlpack_type(dtype)) {
  for (const index::Expr& size : shape) {
    shape_.push_back(index::constant_of(size).value_or(-1));
    symbols_.push_back(index::print(size));
  }
  for (const std::string& symbol : symbols_) symbol_texts_.push_back(symbol.c_str());
}

void Port::write(twinloom_port* out) const {
  known(&checked(out, "port"), "twinloom_port");
  const twinloom_port whole = {.size = out->size,
                               .name = name_.c_str(),
                               .kind = kind_,
                               .dtype = dtype_,
                               .ndim = static_cast<std::int32_t>(shape_.size()),
                               .shape = shape_.data(),
                               .shape_symbols = symbol_texts_.data()};
  std::memcpy(out, &whole, std::min(out->size, sizeof whole));
}

}  // namespace twinloom::c
