// See traffic.h. The elements that one access covers are the members of the loops that its offset
// depends on, where its mask holds: a nest of only these loops and only this access is made, and
// core/cost counts what it touches.
#include "api/traffic.h"

#include <algorithm>
#include <map>

#include "core/base/hash.h"
#include "core/cost/cost.h"
#include "core/loops/rewrite.h"

namespace twinloom {

namespace {

using loops::Ref;
using loops::Stmt;

struct Access {
  loops::Buffer buffer;
  bool store;
  Ref<Stmt> stmt;  // that does only this
  index::Expr offset;
  index::Condition mask;
  std::set<index::Symbol> symbols;  // of both
};

class Accesses {
 public:
  explicit Accesses(const loops::Program& nest) : nest_(nest) { walk(nest.body); }

  // The bytes of elements that all accesses of a kind cover together, by buffer.
  std::map<std::uint32_t, std::int64_t> covered(bool stores, const index::Values& values) const {
    std::map<std::uint32_t, std::int64_t> bytes;
    std::set<std::string> seen;  // places that differ only in the names of loops count once
    for (const auto& [access, enclosing] : all_) {
      if (access.store != stores) continue;
      const std::int64_t whole = bytes_of(access.buffer, values);
      if (!seen.insert(place_of(access, enclosing)).second) continue;
      std::int64_t& sum = bytes[access.buffer.index];
      sum = std::min(whole, sum + cost::touched_bytes(alone(access, enclosing), values));
    }
    for (const loops::Buffer buffer : whole_) bytes[buffer.index] = bytes_of(buffer, values);
    return bytes;
  }

 private:
  using Sides = std::vector<std::pair<loops::Axis, index::Expr>>;
  struct Found {
    loops::Index index;
    Sides enclosing;
  };

  void walk(const Ref<Stmt>& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt->node)) {
      enclosing_.emplace_back(loop->axis, loop->extent);
      walk(loop->body);
      enclosing_.pop_back();
    } else if (const auto* block = std::get_if<loops::Block>(&stmt->node)) {
      for (const auto& inner : block->stmts) walk(inner);
    } else if (const auto* call = std::get_if<loops::Call>(&stmt->node)) {
      walk_call(*call);
    } else {
      add(stmt);
    }
  }

  // A slot runs once for each element that the routine is about.
  void walk_call(const loops::Call& call) {
    const std::span<const loops::Buffer> made = loops::made_by(call);
    whole_.assign(made.begin(), made.end());
    for (const loops::Slot& slot : call.slots) {
      const std::size_t around = enclosing_.size();
      const std::vector<index::Expr> extents = loops::slot_extents(call, slot);
      for (std::size_t k = 0; k < extents.size(); ++k) enclosing_.emplace_back(slot.at[k], extents[k]);
      walk(slot.body);
      enclosing_.resize(around);
    }
  }

  void add(const Ref<Stmt>& stmt) {
    if (const auto* index = std::get_if<loops::Index>(&stmt->node))
      found_[index->symbol] = {*index, enclosing_};
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load == nullptr) return;
      const auto alone = std::make_shared<const loops::Value>(value);
      add({load->buffer, false, loops::stmt(loops::Let{loops::Temp{}, alone}), load->offset, load->mask,
           symbols_of(load->offset, load->mask)});
    });
    if (const auto* store = std::get_if<loops::Store>(&stmt->node)) {
      loops::Store alone = *store;
      alone.value = loops::literal(ops::Number(std::int64_t{0}), nest_.buffers[store->buffer.index].dtype);
      add({store->buffer, true, loops::stmt(alone), store->offset, store->mask,
           symbols_of(store->offset, store->mask)});
    }
  }
  void add(Access access) { all_.emplace_back(std::move(access), enclosing_); }

  static std::set<index::Symbol> symbols_of(const index::Expr& offset, const index::Condition& mask) {
    std::set<index::Symbol> symbols = index::symbols_of(offset);
    symbols.merge(index::symbols_of(mask));
    return symbols;
  }

  // A place found at run time may be another in every turn of the loops around its Index.
  loops::Program alone(const Access& access, const Sides& enclosing) const {
    std::set<index::Symbol> wanted = access.symbols;
    const auto want_what_finds = [&](const std::set<index::Symbol>& symbols) {
      for (const index::Symbol symbol : symbols) {
        const auto found = found_.find(symbol);
        if (found == found_.end()) continue;
        for (const auto& [axis, extent] : found->second.enclosing) wanted.insert(axis);
      }
    };
    want_what_finds(access.symbols);
    loops::Program program = nest_;
    program.body = access.stmt;
    for (std::size_t k = enclosing.size(); k-- > 0;) {
      const auto& [axis, extent] = enclosing[k];
      if (!wanted.contains(axis)) continue;
      const std::set<index::Symbol> symbols = index::symbols_of(extent);
      wanted.insert(symbols.begin(), symbols.end());
      want_what_finds(symbols);
      program.body = with_indexes(symbols, loops::Loop{axis, extent, loops::Bind::serial, program.body});
    }
    return program;
  }

  // The loop behind what finds the symbols of its extent, which costs nothing here.
  Ref<Stmt> with_indexes(const std::set<index::Symbol>& symbols, loops::Loop loop) const {
    std::vector<Ref<Stmt>> stmts;
    for (const index::Symbol symbol : symbols) {
      const auto found = found_.find(symbol);
      if (found == found_.end()) continue;
      loops::Index index = found->second.index;
      index.value = loops::literal(ops::Number(std::int64_t{0}), ops::DType::i64);
      stmts.push_back(loops::stmt(std::move(index)));
    }
    stmts.push_back(loops::stmt(std::move(loop)));
    return loops::block(std::move(stmts));
  }

  // Which elements it is about, as a text in which loops have no names but numbers.
  std::string place_of(const Access& access, const Sides& enclosing) const {
    index::Substitution numbered;
    std::string text = cat(access.buffer.index, ":");
    for (const auto& [axis, extent] : enclosing) {
      numbered[axis] = index::Symbol(cat("loop", numbered.size()));
      if (access.symbols.contains(axis))
        text += cat(numbered[axis], "<", index::substitute(extent, numbered), ",");
    }
    for (const index::Symbol symbol : access.symbols) {
      const auto found = found_.find(symbol);
      if (found == found_.end()) continue;
      const std::string value = loops::print(*loops::substitute(found->second.index.value, numbered), nest_);
      numbered[symbol] = index::Symbol(cat("found", stable_hash(value) % 1000000007));
    }
    return cat(text, index::substitute(access.offset, numbered), " if ",
               index::substitute(access.mask, numbered));
  }

  std::int64_t bytes_of(loops::Buffer buffer, const index::Values& values) const {
    const loops::BufferInfo& info = nest_.buffers[buffer.index];
    return info.local ? 0 : index::evaluate(info.count, values) * ops::size_of(info.dtype);
  }

  const loops::Program& nest_;
  Sides enclosing_;
  std::vector<std::pair<Access, Sides>> all_;
  std::map<index::Symbol, Found> found_;
  std::vector<loops::Buffer> whole_;
};

// The values behind the buffers of a group's nest.
const std::vector<lower::ValueId>& arguments_of(const runtime::Variant& variant, std::size_t group) {
  const auto step = std::ranges::find(variant.steps, group, &runtime::Step::unit);
  CHECK(step != variant.steps.end(), "group ", group, " has no step");
  return step->arguments;
}

}  // namespace

std::vector<Traffic> traffic_of(const runtime::Variant& variant, const index::Values& values) {
  std::vector<Traffic> all(variant.groups.size());
  std::map<lower::ValueId, std::int64_t> known;  // bytes of inputs that earlier kernels have read
  for (std::size_t group = 0; group < all.size(); ++group) {
    const Accesses accesses(variant.groups[group].nest);
    const std::vector<lower::ValueId>& arguments = arguments_of(variant, group);
    for (const bool stores : {false, true}) {
      for (const auto& [buffer, bytes] : accesses.covered(stores, values)) {
        all[group].bytes += bytes;
        if (buffer >= arguments.size()) continue;
        const lower::Storage storage = variant.values[arguments[buffer].index].storage;
        if (stores && storage == lower::Storage::result) all[group].floor_bytes += bytes;
        if (stores || (storage != lower::Storage::parameter && storage != lower::Storage::constant)) continue;
        std::int64_t& earlier = known[arguments[buffer]];
        all[group].floor_bytes += std::max<std::int64_t>(0, bytes - earlier);
        earlier = std::max(earlier, bytes);
      }
    }
  }
  for (const runtime::Step& step : variant.steps) {
    const cost::Work work = cost::work_of(step.program, values);
    all[step.unit].touched_bytes += work.loaded + work.stored;
    all[step.unit].operations += work.operations;
  }
  return all;
}

}  // namespace twinloom
