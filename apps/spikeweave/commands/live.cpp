#include "spikeweave/live/run.hpp"

#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "cli/output.hpp"
#include "commands/commands.hpp"
#include "spikeweave/core/memory.hpp"
#include "spikeweave/spikes/standard_input.hpp"

namespace spikeweave::cli {
namespace {

struct live_command {
    std::string from{};
    bool overwrite = false;
    bool allow_gaps = false;
    bool dashboard = false;
    live_options analysis{};
};

option_list describe(live_command& options) {
    option_list list = describe(options.analysis);
    list.begin_group("Results");
    list.add("overwrite", options.overwrite, "replace the files that are written if they exist");
    list.add("allow_gaps", options.allow_gaps, "exit with status 0 even if something was lost");
    list.add("dashboard", options.dashboard,
             "show the session on a page for a browser, and print the address")
        .basic()
        .not_with({"verify"});
    list.add("listen", options.analysis.dashboard_address,
             "address of this computer on which to serve this page, so that other computers can "
             "open it")
        .by_default("127.0.0.1, which only this computer can open")
        .written("ADDRESS")
        .only_with("dashboard");
    return list;
}

std::string delays_of(const delays& of) {
    return fmt::format(
        "spikes found after their last sample: median {:.2f} ms, 99 % {:.2f} ms, 99.9 % {:.2f} "
        "ms\n",
        of.median_ms, of.p99_ms, of.p999_ms);
}

// A device or a pipe is written to, but not replaced.
bool is_replaced(const std::filesystem::path& path) {
    std::error_code unknown;
    return !std::filesystem::is_other(std::filesystem::status(path, unknown));
}

// Whether the session is for nobody once standard output has no reader.
bool is_only_printed(const live_options& options, bool has_page) {
    return files_of(options).empty() && options.to.size() <= 1 && options.record.empty() &&
           options.resume.empty() && options.metrics == 0 && !has_page;
}

// Returns a function of the number of spikes, which reports on stderr that a stream sends none for
// some time, and then that they arrive.
std::function<void(std::uint64_t)> waiting_notice(const std::string& from, const invocation& call) {
    constexpr double patience_s = 2;
    const bool is_stream = from.find("://") != std::string::npos || from.starts_with("lsl:") ||
                           from.starts_with("lsl-samples:");
    return [&from, &call, is_over = !is_stream || call.quiet,
            was_shown = false](std::uint64_t spikes) mutable {
        if (is_over) return;
        is_over = spikes > 0;
        if (is_over ? !was_shown : was_shown || call.seconds() <= patience_s) return;
        call.progress.clear();
        write_stderr(fmt::format("spikeweave: {} {}\n",
                                 is_over ? "spikes come from" : "waiting for spikes from", from));
        was_shown = true;
    };
}

void show_address(std::string_view address, const live_options& options, invocation& call) {
    call.progress.clear();
    write_stderr(fmt::format("{}\n", address));
    const std::string notice = dashboard_notice(options, address);
    if (!notice.empty()) call.warn({notice});
    call.progress.clear();
}

// A stop ends the analysis with all its results, so only the bound of memory aborts it.
void run(live_command& options, invocation& call) {
    for (const auto& path : files_of(options.analysis))
        if (is_replaced(path)) check_output_place(path, options.overwrite);
    options.analysis.overwrite = options.overwrite;
    std::stop_source ended;
    const std::stop_callback asked(call.stop, [&ended] { ended.request_stop(); });
    std::atomic<bool> is_for_nobody{false};
    const auto print = [&](std::string_view lines) {
        call.progress.clear();
        try {
            return write_some_to_stdout(lines);
        } catch (const output_closed&) {
            is_for_nobody = is_only_printed(options.analysis, options.dashboard);
            if (is_for_nobody) ended.request_stop();
            throw;
        }
    };
    if (options.dashboard)
        options.analysis.dashboard = [&](std::string_view address) {
            show_address(address, options.analysis, call);
        };
    bool is_learning = false;
    options.analysis.tell = [&](std::string_view sentence) {
        is_learning = true;
        if (call.quiet) return;
        call.progress.clear();
        write_stderr(fmt::format("spikeweave: {}\n", sentence));
    };
    // The armed episodes are read twice, which a pipe does not allow.
    std::optional<held_standard_input> held;
    std::error_code unknown;
    if (std::filesystem::is_fifo(options.analysis.episodes, unknown)) {
        held.emplace(options.analysis.episodes, call.stop);
        options.analysis.episodes = held->path();
    }
    execution run = call.run();
    run.stop = ended.get_token();
    run.on_progress = [notice = waiting_notice(options.from, call), shown = run.on_progress,
                       &is_learning](const progress_report& so_far) {
        if (!is_learning) notice(so_far.done);
        if (shown) shown(so_far);
    };
    live_result result;
    invocation until_end = call;
    until_end.stop = {};
    run_within_memory(
        options.analysis.window.mining.max_memory_bytes,
        "a larger --min-count, a --max-size or a shorter --window gives fewer episodes", until_end,
        [&](const invocation& guarded) {
            result = run_live(options.from, options.analysis, print, run, guarded.stop);
        });
    call.progress.clear();
    if (is_for_nobody) throw output_closed();
    if (!are_printed(options.analysis) && !call.quiet) write_stdout(summarize(result) + "\n");
    call.warn(result.warnings);
    if (result.sorting && !call.quiet) write_stderr("spikeweave: " + delays_of(*result.sorting));
    call.warn(loss_warnings(result));
    if (result.has_losses() && !options.allow_gaps) call.exit_status = 1;
}

}  // namespace

void declare_live(CLI::App& sub, command& chosen) {
    const auto options = std::make_shared<live_command>();
    sub.add_option(
           "SOURCE", options->from,
           "a stream of Open Ephys, SpikeGLX, the Lab Streaming Layer or standard input (-), or a "
           "file to play; lines of JSON in a file (.jsonl, .ndjson) or a named pipe; - is lines of "
           "JSON on standard input; open-ephys-zmq://HOST:5556 or open-ephys-events://HOST:5557 "
           "is a running Open Ephys GUI; lsl:NAME is a stream of the Lab Streaming Layer; "
           "spikeweave://ADDRESS:5600 is where programs send spikes to. Samples: a recording to "
           "play, open-ephys-continuous://HOST:5556, spikeglx://HOST:4142, lsl-samples:NAME, or "
           "raw "
           "samples in a named pipe or, -, on standard input, with --templates or with --channels "
           "and --sample-rate")
        ->required()
        ->type_name("")
        ->group("Source");
    declare_options(
        sub, chosen, options,
        "Examples: spikeweave live sym26.tsv --episodes chains --delays 4-6ms\n"
        "          my_recorder | spikeweave live - --no-windows --episodes armed.txt --to "
        "found.jsonl --to serial:///dev/ttyUSB0");
}

}  // namespace spikeweave::cli
