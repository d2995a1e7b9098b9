// Variants on disk: a later process runs a graph that is known without planning it again.
//   key      the graph's text and arrays, what was asked for, the options, the machine, this build
//   payload  a line each of JSON: the class of sizes, what arrays passes have made, the variant as packages have it,
//            without machine code; then the bytes of these arrays
// The kernels are built from the variant's programs, which finds their machine code in the same cache. Of
// keys that differ in their last field alone there is an entry for each class of sizes, numbered from 0.
#pragma once

#include <optional>
#include <vector>

#include "core/object_cache/key.h"
#include "core/pipeline/pipeline.h"
#include "core/runtime/executable.h"

namespace twinloom::pipeline {

class KeptVariants {
 public:
  // Nothing is found and nothing kept where the options have no cache, or what a key does not tell: schedules
  // from elsewhere, other limits of fusion. All that is given must outlive this.
  KeptVariants(const runtime::Request& asked, const runtime::Backend& backend, const Options& options);

  // Its steps have no kernels. None where a log wants to hear of passes, which would not run.
  std::optional<runtime::Variant> find() const;
  void keep(const runtime::Variant& variant) const;

 private:
  bool is_of_class(const std::string& payload) const;
  runtime::Variant read(const std::string& payload) const;
  object_cache::Key key_of_entry(std::size_t number) const;
  std::size_t most_entries() const;

  const runtime::Request& asked_;
  const object_cache::ObjectCache* cache_ = nullptr;  // null: it is off
  bool is_heard_ = false;                             // what the passes say
  std::vector<graph::Content> arrays_;                // of the graph
  object_cache::Key key_;
};

}  // namespace twinloom::pipeline
