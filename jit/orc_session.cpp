// See orc_session.h. This is the only file of the project that includes ORC.
// Each object gets a dylib of its own, so that objects may define the same names and go one by one.
#include "jit/orc_session.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#include <llvm/ExecutionEngine/Orc/ObjectFileInterface.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <map>
#include <set>

#include "core/base/error.h"

namespace twinloom::jit {

namespace {

// What ORC reports from within a load, on the thread that loads: all work is done on that thread.
thread_local std::string reported_words;

void collect_report(llvm::Error error) {
  reported_words += llvm::toString(std::move(error));
  reported_words += '\n';
}

std::unique_ptr<llvm::orc::ExecutorProcessControl> this_process() {
  auto control = llvm::orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<llvm::orc::InPlaceTaskDispatcher>());
  if (!control) throw Bug(cat("ORC does not start: ", llvm::toString(control.takeError())));
  return std::move(*control);
}

std::unique_ptr<llvm::jitlink::JITLinkMemoryManager> memory_of_this_process() {
  auto memory = llvm::jitlink::InProcessMemoryManager::Create();
  if (!memory) throw Bug(cat("JITLink does not start: ", llvm::toString(memory.takeError())));
  return std::move(*memory);
}

}  // namespace

struct Session::State {
  llvm::orc::ExecutionSession session{this_process()};
  llvm::orc::ObjectLinkingLayer layer{session, memory_of_this_process()};
  llvm::orc::JITDylib& host = session.createBareJITDylib("host");
  std::atomic<std::uint64_t> count = 0;  // of objects so far, for the names of their dylibs

  explicit State(std::vector<HostSymbol> symbols) {
    session.setErrorReporter(collect_report);
    define(std::move(symbols));
  }
  ~State() { llvm::consumeError(session.endSession()); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void define(std::vector<HostSymbol> symbols);
  void require(llvm::Error error, const Object& object);
  std::map<std::string, void*> link(llvm::orc::JITDylib& dylib, const Object& object);
};

struct Module::Code {
  std::shared_ptr<Session::State> state;  // outlives the dylib
  llvm::orc::JITDylib& dylib;
  std::string name;
  std::map<std::string, void*> addresses;

  Code(std::shared_ptr<Session::State> owner, std::string object_name)
      : state(std::move(owner)),
        dylib(state->session.createBareJITDylib(cat("object ", state->count++))),
        name(std::move(object_name)) {}
  ~Code() { llvm::consumeError(state->session.removeJITDylib(dylib)); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
};

void Session::State::define(std::vector<HostSymbol> symbols) {
  for (HostSymbol& symbol : default_host_symbols()) symbols.push_back(std::move(symbol));
  llvm::orc::SymbolMap map;
  for (const HostSymbol& symbol : symbols) {
    const auto flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
    const llvm::orc::ExecutorSymbolDef definition(llvm::orc::ExecutorAddr::fromPtr(symbol.address), flags);
    const bool is_first = map.try_emplace(session.intern(symbol.name), definition).second;
    CHECK(is_first, "host symbol ", symbol.name, " is given twice");
  }
  if (auto error = host.define(llvm::orc::absoluteSymbols(std::move(map))))
    throw Bug(cat("host symbols: ", llvm::toString(std::move(error))));
}

void Session::State::require(llvm::Error error, const Object& object) {
  if (!error) return;
  const std::string words = llvm::toString(std::move(error));
  throw Bug(cat("cannot load the object '", object.name, "': ", reported_words, words));
}

// Links at once, so that what is missing shows here and not at the first call.
std::map<std::string, void*> Session::State::link(llvm::orc::JITDylib& dylib, const Object& object) {
  auto bytes = llvm::MemoryBuffer::getMemBufferCopy(object.bytes, object.name);
  auto interface = llvm::orc::getObjectFileInterface(session, bytes->getMemBufferRef());
  require(interface.takeError(), object);
  llvm::orc::SymbolLookupSet names;
  for (const auto& [name, flags] : interface->SymbolFlags) names.add(name);
  CHECK(!names.empty(), "the object '", object.name, "' defines no symbol");
  require(layer.add(dylib, std::move(bytes), std::move(*interface)), object);
  auto found = session.lookup({{&dylib, llvm::orc::JITDylibLookupFlags::MatchAllSymbols}}, std::move(names));
  require(found.takeError(), object);
  std::map<std::string, void*> addresses;
  for (const auto& [name, definition] : *found)
    addresses.emplace((*name).str(), definition.getAddress().toPtr<void*>());
  return addresses;
}

void* Module::address(const std::string& name) const {
  const auto found = code_->addresses.find(name);
  CHECK(found != code_->addresses.end(), "the object '", code_->name, "' does not define ", name);
  return found->second;
}

Session::Session(std::vector<HostSymbol> symbols) : state_(std::make_shared<State>(std::move(symbols))) {}

Module Session::load(const Object& object) const {
  reported_words.clear();
  auto code = std::make_shared<Module::Code>(state_, object.name);
  code->dylib.addToLinkOrder(state_->host);
  code->addresses = state_->link(code->dylib, object);
  return Module(std::move(code));
}

}  // namespace twinloom::jit
