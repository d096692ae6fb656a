#include "cli/invocation.hpp"

#include <fmt/color.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/output.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"

namespace spikeweave::cli {

execution invocation::run(int threads) const {
    execution run{.threads = threads, .stop = stop, .ranks = ranks};
    if (progress.shown() && !quiet)
        run.on_progress = [&line = progress](const progress_report& so_far) {
            line.report(so_far);
        };
    return run;
}

double invocation::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

void invocation::print(bool as_json, std::string_view document, std::string_view text) const {
    progress.clear();
    if (as_json)
        write_stdout(document);
    else if (!quiet)
        write_stdout(text);
}

void invocation::warn(const std::vector<std::string>& warnings) const {
    if (quiet || !is_root() || warnings.empty()) return;
    for (const std::string& warning : warnings) {
        const std::string text = with_command_line_names(warning);
        std::string line =
            fmt::format("spikeweave: {} {}\n",
                        styled(STDERR_FILENO, fg(fmt::terminal_color::yellow), "warning:"), text);
        if (!progress.hold(line, "warning: " + text)) write_stderr(line);
    }
}

const std::vector<std::string>& invocation::warn(run_record& record,
                                                 const std::vector<std::string>& warnings) const {
    warn(add_warnings(record, warnings));
    return record.warnings;
}

void invocation::stop_if_asked() const {
    if (stop.stop_requested()) throw cancelled();
}

void run_within_memory(std::uint64_t most_bytes, const std::string& advice, const invocation& call,
                       const std::function<void(const invocation&)>& work) {
    const memory_guard guard(most_bytes, call.stop, {.bound = "--max-memory", .advice = advice});
    invocation guarded = call;
    guarded.stop = guard.stop();
    guarded.memory = &guard;
    try {
        work(guarded);
    } catch (const cancelled&) {
        guard.check();
        throw;
    }
}

std::vector<std::string> add_warnings(run_record& record,
                                      const std::vector<std::string>& warnings) {
    std::vector<std::string> added;
    for (const std::string& warning : warnings) {
        std::string text = with_command_line_names(warning);
        if (std::ranges::find(record.warnings, text) != record.warnings.end()) continue;
        record.warnings.push_back(text);
        added.push_back(std::move(text));
    }
    return added;
}

}  // namespace spikeweave::cli
