#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cli/progress.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/report/run_record.hpp"

namespace spikeweave::cli {

/// The context of every command.
struct invocation {
    /// The command line as typed.
    std::string command_line{};
    progress_line& progress;
    std::stop_token stop{};
    bool quiet = false;
    /// The processes that share the work; null if this one was started alone.
    std::shared_ptr<communicator> ranks{};
    /// The bound of --max-memory; null for a command without one.
    const memory_guard* memory = nullptr;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    /// Runs another command, given by the words after the program's name, with the same progress
    /// and request to stop. @throws what that command throws
    std::function<void(const std::vector<std::string>&)> run_command{};
    /// The exit status if the command does not throw.
    int exit_status = 0;

    /// Whether this is the process that writes files and prints the result.
    bool is_root() const { return !ranks || ranks->rank() == 0; }
    execution run(int threads = 0) const;
    /// The time since the command began.
    double seconds() const;
    /// Prints a JSON document, or else a text, unless the user asked for quiet.
    void print(bool as_json, std::string_view document, std::string_view text) const;
    /// Shows warnings on stderr, unless the user asked for quiet. On a terminal they are written
    /// behind the first sentence of the result, and before that shown in short.
    void warn(const std::vector<std::string>& warnings) const;
    /// Adds warnings to the record, and shows those that it did not have.
    /// @return all warnings of the record
    const std::vector<std::string>& warn(run_record& record,
                                         const std::vector<std::string>& warnings) const;
    /// @throws cancelled if the user asked to stop; for use between calls that check it themselves.
    void stop_if_asked() const;
};

/// The action to run after the command line is parsed.
using command = std::function<void(invocation&)>;

/// Calls `work` with an invocation that is stopped when this process needs more memory than
/// --max-memory, which is `most_bytes`, allows.
/// @param advice  the options with which a command needs less
/// @throws invalid_argument if it needs more; whatever `work` throws.
void run_within_memory(std::uint64_t most_bytes, const std::string& advice, const invocation& call,
                       const std::function<void(const invocation&)>& work);

/// Adds warnings with the options' names as the user types them.
/// @return those that the record did not have
std::vector<std::string> add_warnings(run_record& record, const std::vector<std::string>& warnings);

}  // namespace spikeweave::cli
