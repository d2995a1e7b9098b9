// In whose memory each value of a text lies: copies, views, and parameters that are written.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "frontends/fx/items.h"

namespace twinloom::fx {

class Memory {
 public:
  explicit Memory(graph::Builder& builder) : builder_(builder) {}

  // The item is a view of another, or several are.
  static void set_view(Item& item, const Item& base);
  // The item is what an operator made when the graph had `known` nodes.
  void set_made(Item& item, std::size_t known);

  // The value as what the parameter `target` holds from here on: so do all names that stand for it, and views
  // of it are views of the value.
  Item write(const Item& target, const Item& value, std::map<std::string, Item>& names);
  // By the number of a parameter.
  const std::map<int, graph::Tensor>& written() const { return written_; }

 private:
  void replace(Item& item, graph::NodeId before, const Item& value);
  std::optional<graph::NodeId> looked_at(graph::NodeId id, graph::NodeId before, graph::NodeId now);
  bool gives_known_elements(const Item& item, std::size_t known) const;

  graph::Builder& builder_;
  std::map<int, graph::Tensor> written_;
  int copies_ = 0;  // operators that gave known elements memory of their own
};

}  // namespace twinloom::fx
