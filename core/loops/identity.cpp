// See identity.h.
#include "core/loops/identity.h"

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/loops/printed.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// No axis and no found index has a name that begins with it.
std::string free_prefix(const Program& nest) {
  std::string prefix = "size";
  const auto avoid = [&](const index::Symbol& symbol) {
    while (symbol.name().starts_with(prefix)) prefix += '_';
  };
  for_each_stmt(*nest.body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<Loop>(&stmt.node)) avoid(loop->axis);
    if (const auto* found = std::get_if<Index>(&stmt.node)) avoid(found->symbol);
  });
  return prefix;
}

Ref<Stmt> without_nodes(const Ref<Stmt>& body) {
  return rewrite_stmts(body, [](const Ref<Stmt>& inner) {
    const auto* found = std::get_if<Index>(&inner->node);
    if (found == nullptr || found->node < 0) return inner;
    Index index = *found;
    index.node = -1;
    return stmt(std::move(index));
  });
}

}  // namespace

Identity identity_of(const Program& nest) {
  Identity identity{nest, {}, {}};
  Program& named = identity.nest;
  named.name = "nest";
  for (std::size_t b = 0; b < named.buffers.size(); ++b) named.buffers[b].name = cat("b", b);
  const std::string prefix = named.sizes.empty() ? std::string() : free_prefix(nest);
  Renaming renaming;
  index::Substitution substitution;
  for (std::size_t s = 0; s < named.sizes.size(); ++s) {
    const index::Symbol symbol(cat(prefix, s));
    renaming.symbols.emplace(named.sizes[s].symbol, symbol);
    substitution.emplace(named.sizes[s].symbol, index::Expr(symbol));
    named.sizes[s].symbol = symbol;
    named.sizes[s].usual.reset();
  }
  named.body = without_nodes(rename(named.body, renaming));
  for (BufferInfo& buffer : named.buffers) buffer.count = index::substitute(buffer.count, substitution);
  identity.sizes = join(named.sizes, ", ", [](const SizeInfo& size) { return print(size); });
  for (SizeInfo& size : named.sizes) size = {size.symbol, {}};
  identity.hash = hexadecimal(stable_hash_128(print(named)));
  return identity;
}

}  // namespace twinloom::loops
