// Reads the text of print.cpp back; README.md has the grammar. Every mistake is an Error with its line
// and column; whether the program makes sense is verify()'s to say.
#include <map>
#include <utility>

#include "core/base/scanner.h"
#include "core/loops/printed.h"

namespace twinloom::loops {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scanner_(text, "program") {}

  Program run() {
    scanner_.expect("program");
    program_.name = scanner_.word();
    scanner_.expect("(");
    if (scanner_.peek_word()) {
      do buffer_info();
      while (scanner_.accept(","));
    }
    if (scanner_.accept(";")) {
      do size_info();
      while (scanner_.accept(","));
    }
    scanner_.expect(")");
    program_.outermost_fastest = scanner_.accept("outermost_fastest");
    program_.library = scanner_.accept("library");
    program_.body = body();
    if (!scanner_.at_end()) scanner_.fail("the end of the text");
    return std::move(program_);
  }

 private:
  // The head.

  void buffer_info() {
    BufferInfo info;
    info.name = scanner_.word();
    scanner_.expect(":");
    info.local = scanner_.accept("local");
    info.written = scanner_.accept("written");
    info.streamed = scanner_.accept("streamed");
    info.dtype = dtype();
    info.count = bracketed();
    const Buffer id{static_cast<std::uint32_t>(program_.buffers.size())};
    if (!buffers_.emplace(info.name, id).second) scanner_.fail(cat("no second buffer '", info.name, "'"));
    program_.buffers.push_back(std::move(info));
  }

  void size_info() {
    SizeInfo info;
    info.symbol = symbol();
    scanner_.expect("in");
    if (scanner_.peek_number()) info.range.low = scanner_.integer();
    scanner_.expect("..");
    if (scanner_.peek_number()) info.range.high = scanner_.integer();
    if (scanner_.accept("%")) info.divisor = scanner_.integer();
    if (scanner_.accept("~")) info.usual = scanner_.integer();
    program_.sizes.push_back(info);
  }

  // Names.

  template <class Found>
  Found known(std::string_view what, std::string_view name, std::optional<Found> found) {
    if (!found) scanner_.fail(cat(what, " before this place instead of '", name, "'"));
    return *found;
  }

  ops::DType dtype() {
    const std::string name = scanner_.word();
    return known("a type", name, ops::dtype_named(name));
  }

  index::Symbol symbol() { return index::Symbol(scanner_.word()); }

  Buffer buffer_named(const std::string& name) {
    const auto found = buffers_.find(name);
    return known("a buffer", name, found == buffers_.end() ? std::nullopt : std::optional(found->second));
  }
  Buffer buffer() { return buffer_named(scanner_.word()); }

  Read read_named(const std::string& name) {
    const std::optional<Read> read = read_of(name);
    if (!read) scanner_.fail(cat("a temp such as t3 before this place instead of '", name, "'"));
    return *read;
  }
  Temp temp_named(const std::string& name) {
    const Read read = read_named(name);
    if (read.part != 0) scanner_.fail(cat("a temp without a part before this place instead of '", name, "'"));
    return read.temp;
  }
  Temp temp() { return temp_named(scanner_.word()); }

  std::vector<Axis> axes() {
    return listed<Axis>([&] { return symbol(); });
  }

  // "(" items between commas ")".
  template <class Item, class ParseItem>
  std::vector<Item> listed(ParseItem parse_item) {
    std::vector<Item> items;
    scanner_.expect("(");
    if (scanner_.accept(")")) return items;
    do items.push_back(parse_item());
    while (scanner_.accept(","));
    scanner_.expect(")");
    return items;
  }

  // Values.

  index::Expr bracketed() {
    scanner_.expect("[");
    index::Expr expr = index::parse(scanner_);
    scanner_.expect("]");
    return expr;
  }

  index::Condition mask() {
    return scanner_.accept("if") ? index::parse_condition(scanner_) : index::Condition{};
  }

  Literal literal_value() {
    const ops::Number number = ops::parse_number(scanner_);
    scanner_.expect(":");
    return {number, dtype()};
  }

  bool literal_comes() {
    if (scanner_.peek_number() || scanner_.peek("-")) return true;
    Scanner ahead = scanner_;
    return ahead.peek_word() && (ahead.accept("inf") || ahead.accept("nan")) && ahead.peek(":");
  }

  Ref<Value> value() {
    if (scanner_.accept("(")) return masked_load();
    if (literal_comes()) {
      const Literal number = literal_value();
      return literal(number.value, number.dtype);
    }
    const std::string name = scanner_.word();
    if (scanner_.peek("[")) {
      const Buffer from = buffer_named(name);
      return load(from, bracketed(), {}, zero_of(program_.buffers[from.index].dtype));
    }
    if (scanner_.peek("(")) return call_of(name);
    const Read found = read_named(name);
    return read(found.temp, found.part);
  }

  // After the "(": buffer[offset] if mask else literal ")".
  Ref<Value> masked_load() {
    const Buffer from = buffer();
    index::Expr offset = bracketed();
    index::Condition condition = mask();
    scanner_.expect("else");
    const Literal otherwise = literal_value();
    scanner_.expect(")");
    return load(from, std::move(offset), std::move(condition), otherwise);
  }

  Ref<Value> call_of(const std::string& name) {
    if (name == "count") {
      scanner_.expect("(");
      Ref<Value> counted = count(index::parse(scanner_));
      scanner_.expect(")");
      return counted;
    }
    const auto to = ops::dtype_named(name);
    const auto op = to ? std::nullopt : std::optional(known("an operator", name, ops::pointwise_named(name)));
    std::vector<Ref<Value>> inputs = values();
    const int wanted = op ? ops::arity(*op) : 1;
    if (!std::cmp_equal(inputs.size(), wanted))
      scanner_.fail(cat(wanted, " inputs of ", name, " before this place"));
    if (op) return apply(*op, std::move(inputs));
    return std::make_shared<const Value>(Value{Convert{*to, inputs.front()}});
  }

  std::vector<Ref<Value>> values() {
    return listed<Ref<Value>>([&] { return value(); });
  }

  // Statements.

  Ref<Stmt> body() {
    std::vector<Ref<Stmt>> stmts;
    scanner_.expect("{");
    while (!scanner_.accept("}")) stmts.push_back(statement());
    return block(std::move(stmts));
  }

  Ref<Stmt> statement() {
    if (scanner_.peek("{")) return body();
    const std::string first = scanner_.word();
    if (scanner_.peek("[")) return store(buffer_named(first));
    if (const auto found = keywords().find(first); found != keywords().end()) return (this->*found->second)();
    const Temp target = temp_named(first);
    if (scanner_.accept("=")) return stmt(Let{target, value()});
    scanner_.expect("+=");
    std::vector<Ref<Value>> added;
    do added.push_back(value());
    while (scanner_.accept(","));
    scanner_.expect("at");
    const index::Expr place = index::parse(scanner_);
    return stmt(Accumulate{target, std::move(added), place, mask()});
  }

  using Keyword = Ref<Stmt> (Parser::*)();
  static const std::map<std::string_view, Keyword>& keywords() {
    static const std::map<std::string_view, Keyword> table = {
        {"for", &Parser::loop},
        {"index", &Parser::index_stmt},
        {"start", &Parser::start},
        {"scan", &Parser::scan},
        {"merge", &Parser::merge},
        {"combine", &Parser::combine},
        {"push", &Parser::push},
        {"fold", &Parser::fold},
        {"prefix", &Parser::prefix},
        {"scratch", &Parser::scratch},
        {"prefetch", &Parser::prefetch},
        {"sync", &Parser::sync},
        {"last_block", &Parser::last_block},
        {"call", &Parser::call},
    };
    return table;
  }

  Ref<Stmt> loop() {
    Loop loop;
    loop.axis = symbol();
    scanner_.expect("<");
    loop.extent = index::parse(scanner_);
    loop.bind = accept_one_of(scanner_, {Bind::unroll, Bind::vector, Bind::thread, Bind::block})
                    .value_or(Bind::serial);
    loop.body = body();
    return stmt(std::move(loop));
  }

  Ref<Stmt> index_stmt() {
    Index node;
    node.symbol = symbol();
    scanner_.expect("=");
    node.value = value();
    scanner_.expect("below");
    node.bound = index::parse(scanner_);
    node.negative_wraps = scanner_.accept("wraps");
    node.mask = mask();
    if (scanner_.accept("node")) node.node = static_cast<int>(scanner_.integer());
    return stmt(std::move(node));
  }

  Ref<Stmt> store(Buffer to) {
    Store store;
    store.buffer = to;
    store.offset = bracketed();
    if (!scanner_.accept("=")) store.update = read_one_of(scanner_, {Update::atomic_add, Update::atomic_max});
    store.value = value();
    store.mask = mask();
    return stmt(std::move(store));
  }

  Ref<Stmt> start() {
    Start start;
    start.total = temp();
    scanner_.expect(":");
    const std::string monoid = scanner_.word();
    start.monoid = known("a monoid", monoid, ops::monoid_named(monoid));
    start.element = dtype();
    if (scanner_.accept("copies")) start.copies = axes();
    if (scanner_.accept("depth")) start.depth = static_cast<int>(scanner_.integer());
    start.free = scanner_.accept("free");
    start.folded = scanner_.accept("folded");
    return stmt(std::move(start));
  }

  Ref<Stmt> scan() {
    Scan scan;
    scan.result = temp();
    scanner_.expect("=");
    scan.total = temp();
    scan.values = values();
    scanner_.expect("at");
    scan.place = index::parse(scanner_);
    scan.exclusive = scanner_.accept("exclusive");
    return stmt(std::move(scan));
  }

  Ref<Stmt> merge() {
    Merge merge;
    merge.total = temp();
    merge.product = scanner_.accept("product");
    merge.values = values();
    merge.mask = mask();
    return stmt(std::move(merge));
  }

  Ref<Stmt> combine() {
    Combine combine;
    combine.total = temp();
    scanner_.expect("across");
    combine.across = symbol();
    combine.pairing = read_one_of(scanner_, {Pairing::halves, Pairing::neighbours});
    return stmt(combine);
  }

  Ref<Stmt> push() {
    Push push;
    push.unit = temp();
    scanner_.expect("onto");
    push.stack = temp();
    scanner_.expect("at");
    push.number = index::parse(scanner_);
    push.mask = mask();
    return stmt(std::move(push));
  }

  Ref<Stmt> fold() {
    Fold fold;
    fold.result = temp();
    scanner_.expect("=");
    fold.stack = temp();
    scanner_.expect("of");
    fold.count = index::parse(scanner_);
    return stmt(std::move(fold));
  }

  Ref<Stmt> prefix() {
    Prefix prefix;
    prefix.before = temp();
    scanner_.expect(",");
    prefix.all = temp();
    scanner_.expect("=");
    prefix.total = temp();
    scanner_.expect("across");
    prefix.across = symbol();
    return stmt(prefix);
  }

  Ref<Stmt> scratch() {
    Scratch scratch;
    scratch.buffer = buffer();
    scratch.count = bracketed();
    scanner_.expect("in");
    scratch.place = read_one_of(scanner_, {Place::registers, Place::scratch, Place::memory});
    scratch.body = body();
    return stmt(std::move(scratch));
  }

  Ref<Stmt> prefetch() {
    Prefetch prefetch;
    prefetch.buffer = buffer();
    prefetch.offset = bracketed();
    if (scanner_.accept("count")) prefetch.count = index::parse(scanner_);
    prefetch.written = scanner_.accept("written");
    prefetch.mask = mask();
    return stmt(std::move(prefetch));
  }

  Ref<Stmt> sync() { return stmt(Sync{}); }

  Ref<Stmt> last_block() {
    LastBlock last;
    last.counter = buffer();
    last.offset = bracketed();
    scanner_.expect("among");
    last.among = axes();
    last.body = body();
    return stmt(std::move(last));
  }

  Ref<Stmt> call() {
    Call call;
    call.routine = read_one_of(scanner_, {Routine::stable_sort, Routine::sums_by_key});
    call.operands = listed<Buffer>([&] { return buffer(); });
    scanner_.expect("sizes");
    call.sizes = listed<index::Expr>([&] { return index::parse(scanner_); });
    scanner_.expect("{");
    while (scanner_.accept("slot")) {
      Slot slot;
      slot.element = temp();
      scanner_.expect("at");
      slot.at = axes();
      slot.body = body();
      call.slots.push_back(std::move(slot));
    }
    scanner_.expect("}");
    return stmt(std::move(call));
  }

  Scanner scanner_;
  Program program_;
  std::map<std::string, Buffer> buffers_;
};

}  // namespace

Program parse(std::string_view text) { return Parser(text).run(); }

}  // namespace twinloom::loops
