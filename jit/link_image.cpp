// See link_image.h. JITLink lays the object out in one piece at an address that nothing depends on: all that
// refers to it is relative. What lies outside gets an address so far away that JITLink reaches it through
// words of its table alone; these words are the imports.
#include "jit/link_image.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ExecutionEngine/JITLink/ELF.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/x86_64.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace twinloom::jit {

namespace {

using llvm::jitlink::Block;
using llvm::jitlink::Edge;
using llvm::jitlink::JITLinkMemoryManager;
using llvm::jitlink::LinkGraph;

using llvm::BitmaskEnumDetail::operator&;
using llvm::BitmaskEnumDetail::operator|;

constexpr std::uint64_t BASE = std::uint64_t{1} << 40;  // no number of 32 bits
constexpr std::uint64_t FAR_AWAY = std::uint64_t{1} << 62;

// All there is of one link.
struct Link {
  const Object& object;
  const std::string& symbol;
  CodeImage image;
  std::string failure;  // empty where there was none
};

// Gives the graph the bytes of the image.
class ImageMemory final : public JITLinkMemoryManager {
 public:
  explicit ImageMemory(Link& link) : link_(link) {}

  void allocate(const llvm::jitlink::JITLinkDylib*, LinkGraph& graph, OnAllocatedFunction done) override {
    llvm::jitlink::BasicLayout layout(graph);
    std::uint64_t end = 0;
    for (auto& [group, segment] : layout.segments()) {
      end = llvm::alignTo(end, segment.Alignment);
      segment.Addr = llvm::orc::ExecutorAddr(BASE + end);
      end += segment.ContentSize + segment.ZeroFillSize;
    }
    link_.image.bytes.assign(end, '\0');
    for (auto& [group, segment] : layout.segments())
      segment.WorkingMem = link_.image.bytes.data() + (segment.Addr.getValue() - BASE);
    if (auto error = layout.apply()) return done(std::move(error));
    done(std::make_unique<Allocated>());
  }
  void deallocate(std::vector<FinalizedAlloc> allocations, OnDeallocatedFunction done) override {
    for (FinalizedAlloc& allocation : allocations) allocation.release();
    done(llvm::Error::success());
  }

 private:
  struct Allocated final : InFlightAlloc {
    void abandon(OnAbandonedFunction done) override { done(llvm::Error::success()); }
    void finalize(OnFinalizedFunction done) override { done(FinalizedAlloc(llvm::orc::ExecutorAddr(BASE))); }
  };
  Link& link_;
};

llvm::Error refusal(const std::string& words) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), words.c_str());
}

bool is_relative(Edge::Kind kind) {
  using namespace llvm::jitlink::x86_64;
  return std::ranges::count(
             std::array<Edge::Kind, 10>{Delta64, Delta32, NegDelta64, NegDelta32, PCRel32, BranchPCRel32,
                                        BranchPCRel32ToPtrJumpStub, BranchPCRel32ToPtrJumpStubBypassable,
                                        PCRel32GOTLoadRelaxable, PCRel32GOTLoadREXRelaxable},
             kind) != 0;
}

class Context final : public llvm::jitlink::JITLinkContext {
 public:
  explicit Context(Link& link) : JITLinkContext(nullptr), link_(link), memory_(link) {}

  JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(llvm::Error error) override { link_.failure = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& symbols,
              std::unique_ptr<llvm::jitlink::JITLinkAsyncLookupContinuation> done) override {
    llvm::jitlink::AsyncLookupResult addresses;
    for (const auto& [name, flags] : symbols)
      addresses[name] = {llvm::orc::ExecutorAddr(FAR_AWAY), llvm::JITSymbolFlags::Exported};
    done->run(std::move(addresses));
  }

  llvm::Error notifyResolved(LinkGraph& graph) override {
    for (const auto* symbol : graph.defined_symbols()) {
      if (!symbol->hasName() || symbol->getName() != link_.symbol) continue;
      link_.image.entry = static_cast<std::int64_t>(symbol->getAddress().getValue() - BASE);
      return llvm::Error::success();
    }
    return refusal(cat("it does not define ", link_.symbol));
  }
  void notifyFinalized(JITLinkMemoryManager::FinalizedAlloc allocation) override { allocation.release(); }

  llvm::jitlink::LinkGraphPassFunction getMarkLivePass(const llvm::Triple&) const override {
    return [this](LinkGraph& graph) {
      for (auto* symbol : graph.defined_symbols())
        if (symbol->hasName() && symbol->getName() == link_.symbol) symbol->setLive(true);
      return llvm::Error::success();
    };
  }

  llvm::Error modifyPassConfig(LinkGraph&, llvm::jitlink::PassConfiguration& passes) override {
    passes.PostPrunePasses.emplace_back(in_one_piece);
    passes.PostFixupPasses.emplace_back([this](LinkGraph& graph) { return find_imports(graph); });
    return llvm::Error::success();
  }

 private:
  // One segment for code and constants: nothing is written once the image is loaded. What has no name is a
  // constant of LLVM's, which has those of 128 bytes among the data.
  static llvm::Error in_one_piece(LinkGraph& graph) {
    for (auto& section : graph.sections()) {
      const bool may_be = (section.getMemProt() & llvm::orc::MemProt::Write) == llvm::orc::MemProt::Write;
      const bool is_variable =
          llvm::any_of(section.symbols(), [](const auto* symbol) { return symbol->hasName(); });
      if (may_be && is_variable)
        return refusal(cat("it has data that is written, in ", section.getName().str()));
      section.setMemProt(llvm::orc::MemProt::Read | llvm::orc::MemProt::Exec);
    }
    return llvm::Error::success();
  }

  llvm::Error find_imports(LinkGraph& graph) {
    for (const Block* block : graph.blocks())
      for (const Edge& edge : block->edges())
        if (auto error = look_at(*block, edge)) return error;
    return llvm::Error::success();
  }
  llvm::Error look_at(const Block& block, const Edge& edge) {
    if (!edge.isRelocation()) return llvm::Error::success();
    const bool is_outside = !edge.getTarget().isDefined();
    if (is_outside ? edge.getKind() != llvm::jitlink::x86_64::Pointer64 : !is_relative(edge.getKind()))
      return refusal(cat("it refers to ", is_outside ? edge.getTarget().getName().str() : "an address",
                         " by ", llvm::jitlink::x86_64::getEdgeKindName(edge.getKind())));
    if (!is_outside) return llvm::Error::success();
    const auto at = (block.getAddress() + edge.getOffset()).getValue() - BASE;
    link_.image.imports.push_back({static_cast<std::int64_t>(at), edge.getTarget().getName().str()});
    return llvm::Error::success();
  }

  Link& link_;
  ImageMemory memory_;
};

}  // namespace

CodeImage link_image(const Object& object, const std::string& symbol) {
  Link link{object, symbol, {}, {}};
  const auto bytes = llvm::MemoryBuffer::getMemBuffer(object.bytes, object.name, false);
  auto graph = llvm::jitlink::createLinkGraphFromObject(bytes->getMemBufferRef());
  if (!graph)
    link.failure = llvm::toString(graph.takeError());
  else
    llvm::jitlink::link(std::move(*graph), std::make_unique<Context>(link));
  if (!link.failure.empty()) throw Bug(cat("cannot link the object '", object.name, "': ", link.failure));
  return std::move(link.image);
}

}  // namespace twinloom::jit
