// The facts of a Machine as a table. For the inside of this room.
#pragma once

#include "core/machine/machine.h"

namespace twinloom::machine {

enum class From : std::uint8_t {
  system,       // tells it
  measurement,  // tells it better than the system
  caller,       // decides it
};

// visit(name, fact of one, the same fact of the other, from) of each fact of two levels.
template <class Level, class Other, class Visit>
void for_each_fact_of_levels(Level& one, Other& other, Visit&& visit) {
  visit("bytes", one.bytes, other.bytes, From::system);
  visit("bytes_per_second", one.bytes_per_second, other.bytes_per_second, From::measurement);
  visit("read_per_second", one.read_per_second, other.read_per_second, From::measurement);
  visit("written_per_second", one.written_per_second, other.written_per_second, From::measurement);
  visit("workers", one.workers, other.workers, From::measurement);
  visit("latency_seconds", one.latency_seconds, other.latency_seconds, From::measurement);
}

// The same of two machines, without their levels.
template <class Of, class Other, class Visit>
void for_each_fact(Of& one, Other& other, Visit&& visit) {
  visit("vector_bytes", one.vector_bytes, other.vector_bytes, From::system);
  visit("vector_registers", one.vector_registers, other.vector_registers, From::system);
  visit("masked_memory", one.masked_memory, other.masked_memory, From::system);
  visit("max_threads", one.max_threads, other.max_threads, From::system);
  visit("cluster_blocks", one.cluster_blocks, other.cluster_blocks, From::system);
  visit("warp_threads", one.warp_threads, other.warp_threads, From::system);
  visit("scratch_bytes", one.scratch_bytes, other.scratch_bytes, From::system);
  visit("blocks_at_once", one.blocks_at_once, other.blocks_at_once, From::system);
  visit("multiprocessors", one.multiprocessors, other.multiprocessors, From::system);
  visit("threads_each", one.threads_each, other.threads_each, From::system);
  visit("registers_each", one.registers_each, other.registers_each, From::system);
  visit("sector_bytes", one.sector_bytes, other.sector_bytes, From::system);
  visit("clock_hertz", one.clock_hertz, other.clock_hertz, From::measurement);
  visit("issue_each", one.issue_each, other.issue_each, From::measurement);
  visit("streamed_per_second", one.streamed_per_second, other.streamed_per_second, From::measurement);
  visit("library_rate", one.library_rate, other.library_rate, From::caller);
  visit("narrow_products", one.narrow_products, other.narrow_products, From::caller);
  visit("launch_seconds", one.launch_seconds, other.launch_seconds, From::measurement);
  visit("wake_seconds", one.wake_seconds, other.wake_seconds, From::measurement);
  visit("worth_a_thread_seconds", one.worth_a_thread_seconds, other.worth_a_thread_seconds, From::caller);
}

}  // namespace twinloom::machine
