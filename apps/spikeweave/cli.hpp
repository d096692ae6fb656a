#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "progress.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/parallel/communicator.hpp"
#include "spikeweave/report/run_record.hpp"

/// The command `spikeweave`: one file a verb, on the library's public headers only.
namespace spikeweave::cli {

/// What every verb works with.
struct session {
    /// The command line as typed.
    std::string command_line{};
    progress_line& progress;
    std::stop_token stop{};
    bool quiet = false;
    /// Who shares the work; null for this process alone.
    std::shared_ptr<communicator> ranks{};

    /// Whether this is the process that writes files and says what came out.
    bool is_root() const { return !ranks || ranks->rank() == 0; }
    execution run(int threads = 0, std::vector<int> devices = {}) const {
        execution how{
            .threads = threads, .stop = stop, .ranks = ranks, .devices = std::move(devices)};
        if (progress.shown() && !quiet)
            how.on_progress = [&line = progress](const spikeweave::progress& now) {
                line.report(now);
            };
        return how;
    }
    /// Says on stderr what the user should know, unless asked to be quiet.
    void warn(const std::vector<std::string>& warnings) const;
    /// Says and records those that the record does not hold yet.
    void warn(run_record& record, const std::vector<std::string>& warnings) const;
    /// Between the calls that can be stopped.
    void stop_if_asked() const {
        if (stop.stop_requested()) throw cancelled();
    }
};

/// The action to run after the command line is parsed.
using verb = std::function<void(session&)>;

/// Each declares its verb's options; parsing then leaves in `chosen` what is to be done.
void add_info(CLI::App& app, verb& chosen);
void add_convert(CLI::App& app, verb& chosen);
void add_simulate(CLI::App& app, verb& chosen);
/// `spikeweave simulate recording`, under `simulate`.
void add_simulate_recording(CLI::App& parent, verb& chosen);
void add_simulate_features(CLI::App& parent, verb& chosen);
void add_sort(CLI::App& app, verb& chosen);
void add_episodes(CLI::App& app, verb& chosen);
void add_spade(CLI::App& app, verb& chosen);
void add_devices(CLI::App& app, verb& chosen);

/// An option whose text `parse` turns into the value; what `parse` throws names the option.
template <class Value, class Parse>
CLI::Option* add_value(CLI::App& app, const std::string& name, Value& into, Parse parse,
                       const std::string& help) {
    const std::string shown = name.substr(name.find_last_of(',') + 1);
    return app.add_option_function<std::string>(
        name,
        [&into, parse, shown](const std::string& text) {
            try {
                into = parse(text);
            } catch (const invalid_argument& error) {
                throw CLI::ValidationError(shown, error.what());
            }
        },
        help);
}

}  // namespace spikeweave::cli
