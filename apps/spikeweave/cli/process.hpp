#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "spikeweave/parallel/communicator.hpp"

/// Signals, and the ranks of a process that mpirun started.
namespace spikeweave::cli {

/// Turns SIGINT, SIGTERM and SIGHUP into a request to stop; the second one ends the process at
/// once. Writing to a closed pipe or past a file-size limit becomes an error instead of a signal.
///
/// It must be called before any other thread starts, because threads inherit that these signals do
/// not reach them.
std::stop_token stop_on_signals();

/// The processes that share the work of a command; null if this one was started alone. From then on
/// only rank 0 writes to standard output; what the others write is dropped.
/// @throws invalid_argument for a command that cannot share its work, or without MPI, because each
/// process would do all of it.
/// @param stop  also ends waiting for the others
std::shared_ptr<communicator> join_ranks(std::string_view command_name,
                                         const std::stop_token& stop);

/// The beginning of a message: "spikeweave: ", and the rank if there are several.
std::string message_prefix();

/// Whether this process should report its error. What fails on rank 0 as well, such as an invalid
/// option, is reported by rank 0, whose end makes the launcher stop the others. They wait for that
/// first.
bool should_report(const std::stop_token& stop);

}  // namespace spikeweave::cli
