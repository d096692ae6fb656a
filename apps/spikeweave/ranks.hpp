#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "spikeweave/parallel/communicator.hpp"

/// What it takes to be one of the processes that mpirun started.
namespace spikeweave::cli {

/// The processes to share the work of `verb_name` with; null when this one was started alone.
/// Standard output is rank 0's from then on; what the others write to it is dropped.
/// @throws invalid_argument for a verb that cannot share its work, or without MPI: each process
///         would do all of it.
/// @param stop  ends waiting for the others too
std::shared_ptr<communicator> join_ranks(std::string_view verb_name, const std::stop_token& stop);

/// "spikeweave: ", and which rank says it where there are several.
std::string speaker();

/// Whether this process should say what went wrong. What fails on rank 0 as well, such as an option
/// that cannot be, is for rank 0 to say, whose end makes the launcher stop the others: they wait
/// for that first.
bool should_speak(const std::stop_token& stop);

}  // namespace spikeweave::cli
