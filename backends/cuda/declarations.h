// The device headers as declarations, of which a kernel is given those that it needs: NVRTC reads what it is
// given, whether it is used or not, and all of them take half as long as a small kernel.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace twinloom::cuda {

class Declarations {
 public:
  // A text without a macro to expand or a comment; it must live as long as this. Its namespaces hold
  // declarations and no namespaces.
  explicit Declarations(std::string_view text);
  // What `kernel` names, what that names, and so on, in the order of the text: with all that have a name, so
  // that overloads are chosen as among all declarations.
  std::string needed_by(std::string_view kernel) const;

 private:
  struct Declaration {
    std::string_view scope;  // "namespace a::b {"; empty outside, as macros are
    std::string_view text;
    std::vector<std::string_view> words;  // of the text
  };
  std::vector<Declaration> all_;
  std::unordered_map<std::string_view, std::vector<std::size_t>> named_;
};

}  // namespace twinloom::cuda
