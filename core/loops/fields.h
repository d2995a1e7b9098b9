// The fields of every value and statement, written down once: rewriting, comparing, hashing and
// visiting are loops over this table. A kind without a row stops the build.
#pragma once

#include <tuple>

#include "core/loops/loops.h"

namespace twinloom::loops {

template <class Node>
inline constexpr auto members = nullptr;

template <>
inline constexpr auto members<Literal> = std::tuple{&Literal::value, &Literal::dtype};
template <>
inline constexpr auto members<Count> = std::tuple{&Count::expr};
template <>
inline constexpr auto members<Read> = std::tuple{&Read::temp, &Read::part};
template <>
inline constexpr auto members<Load> = std::tuple{&Load::buffer, &Load::offset, &Load::mask, &Load::otherwise};
template <>
inline constexpr auto members<Apply> = std::tuple{&Apply::op, &Apply::inputs};
template <>
inline constexpr auto members<Convert> = std::tuple{&Convert::to, &Convert::input};

template <>
inline constexpr auto members<Block> = std::tuple{&Block::stmts};
template <>
inline constexpr auto members<Loop> = std::tuple{&Loop::axis, &Loop::extent, &Loop::bind, &Loop::body};
template <>
inline constexpr auto members<Let> = std::tuple{&Let::temp, &Let::value};
template <>
inline constexpr auto members<Index> = std::tuple{&Index::symbol, &Index::value,          &Index::bound,
                                                  &Index::mask,   &Index::negative_wraps, &Index::node};
template <>
inline constexpr auto members<Store> =
    std::tuple{&Store::buffer, &Store::offset, &Store::mask, &Store::value, &Store::update};
template <>
inline constexpr auto members<Start> =
    std::tuple{&Start::total, &Start::monoid, &Start::element, &Start::copies,
               &Start::depth, &Start::free,   &Start::folded};
template <>
inline constexpr auto members<Accumulate> =
    std::tuple{&Accumulate::total, &Accumulate::values, &Accumulate::place, &Accumulate::mask};
template <>
inline constexpr auto members<Scan> =
    std::tuple{&Scan::result, &Scan::total, &Scan::values, &Scan::place, &Scan::exclusive};
template <>
inline constexpr auto members<Merge> =
    std::tuple{&Merge::total, &Merge::values, &Merge::mask, &Merge::product};
template <>
inline constexpr auto members<Combine> = std::tuple{&Combine::total, &Combine::across, &Combine::pairing};
template <>
inline constexpr auto members<Push> = std::tuple{&Push::stack, &Push::unit, &Push::number, &Push::mask};
template <>
inline constexpr auto members<Fold> = std::tuple{&Fold::result, &Fold::stack, &Fold::count};
template <>
inline constexpr auto members<Prefix> =
    std::tuple{&Prefix::before, &Prefix::all, &Prefix::total, &Prefix::across};
template <>
inline constexpr auto members<Scratch> =
    std::tuple{&Scratch::buffer, &Scratch::count, &Scratch::place, &Scratch::body};
template <>
inline constexpr auto members<Prefetch> =
    std::tuple{&Prefetch::buffer, &Prefetch::offset, &Prefetch::written, &Prefetch::count, &Prefetch::mask};
template <>
inline constexpr auto members<Sync> = std::tuple{};
template <>
inline constexpr auto members<LastBlock> =
    std::tuple{&LastBlock::counter, &LastBlock::offset, &LastBlock::among, &LastBlock::body};
template <>
inline constexpr auto members<Slot> = std::tuple{&Slot::at, &Slot::element, &Slot::body};
template <>
inline constexpr auto members<Call> = std::tuple{&Call::routine, &Call::operands, &Call::sizes, &Call::slots};

// visit(field) for each field of the node, in the order of the table.
template <class Node, class Visit>
void for_each_field(Node& node, Visit&& visit) {
  std::apply([&](auto... member) { (visit(node.*member), ...); }, members<std::remove_const_t<Node>>);
}

}  // namespace twinloom::loops
