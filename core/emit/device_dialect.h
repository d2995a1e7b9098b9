// What languages have in common that include the device header of core/ops: types, literals, conversions. A
// storage format is its bits in a register; truth is a byte in memory.
#pragma once

#include "core/emit/dialect.h"

namespace twinloom::emit {

class DeviceDialect : public Dialect {
 public:
  std::string before() const override;
  std::string after() const override;
  std::string argument(const std::string& type, ops::DType dtype, std::size_t buffer) const override;
  std::string size(std::size_t number, const loops::SizeInfo& info) const override;
  std::string failure() const override;
  bool assumes_packed() const override { return false; }
  std::string type(ops::DType dtype, int lanes) const override;
  std::string memory_type(ops::DType dtype) const override;
  std::string literal(const ops::Number& number, ops::DType dtype) const override;
  std::string converted(ops::DType from, ops::DType to, const std::string& text) const override;
  std::string loaded(ops::DType dtype, const std::string& text) const override;
  std::string stored(ops::DType dtype, const std::string& text) const override;
  std::string loop(const std::string& counter, const std::string& bound) const override;
};

}  // namespace twinloom::emit
