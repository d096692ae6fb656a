#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/session.hpp"
#include "spikeweave/report/part_record.hpp"

/// The commands, each in a file of its name. A command declares its options, and when it is parsed
/// leaves in `chosen` what is to be done.
namespace spikeweave::cli {

void add_info(CLI::App& app, command& chosen);
void add_convert(CLI::App& app, command& chosen);
void add_simulate(CLI::App& app, command& chosen);
void add_sort(CLI::App& app, command& chosen);
void add_episodes(CLI::App& app, command& chosen);
void add_spade(CLI::App& app, command& chosen);
void add_assemblies(CLI::App& app, command& chosen);
void add_merge(CLI::App& app, command& chosen);
void add_live(CLI::App& app, command& chosen);
void add_replay(CLI::App& app, command& chosen);
void add_report(CLI::App& app, command& chosen);
void add_compare(CLI::App& app, command& chosen);
void add_table(CLI::App& app, command& chosen);
void add_devices(CLI::App& app, command& chosen);
void add_doctor(CLI::App& app, command& chosen);
void add_completion(CLI::App& app, command& chosen);
void add_manual(CLI::App& app, command& chosen);

/// Where the parts of a divided analysis are merged to, where its input is now, and whether one
/// JSON document is printed.
struct merge_target {
    std::filesystem::path to{};
    bool overwrite = false;
    std::string input{};
    bool json = false;
};
void merge_episodes(const std::vector<part_record>& parts, const merge_target& target,
                    session& now);
void merge_spade(const std::vector<part_record>& parts, const merge_target& target, session& now);

/// Chooses `run` with these options when the command is parsed.
template <class Options>
void choose(CLI::App& app, command& chosen, const std::shared_ptr<Options>& options,
            void (*run)(std::type_identity_t<Options>&, session&)) {
    app.callback(
        [options, run, &chosen] { chosen = [options, run](session& now) { run(*options, now); }; });
}

}  // namespace spikeweave::cli
