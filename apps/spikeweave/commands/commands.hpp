#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/described_options.hpp"
#include "cli/invocation.hpp"
#include "cli/parts.hpp"

/// The commands, each in a file of its name. A command declares its options, and when it is parsed
/// leaves its action in `chosen`.
namespace spikeweave::cli {

struct command_entry {
    const char* name;
    const char* about;
    void (*declare)(CLI::App& sub, command& chosen);
    bool is_basic = false;  ///< whether the short help lists it
};

/// All commands, in the order in which --help lists them.
std::span<const command_entry> all_commands();

void declare_info(CLI::App& sub, command& chosen);
void declare_run(CLI::App& sub, command& chosen);
void declare_example(CLI::App& sub, command& chosen);
void declare_convert(CLI::App& sub, command& chosen);
void declare_simulate(CLI::App& sub, command& chosen);
void declare_sort(CLI::App& sub, command& chosen);
void declare_episodes(CLI::App& sub, command& chosen);
void declare_windows(CLI::App& sub, command& chosen);
void declare_count(CLI::App& sub, command& chosen);
void declare_spade(CLI::App& sub, command& chosen);
void declare_assemblies(CLI::App& sub, command& chosen);
void declare_bursts(CLI::App& sub, command& chosen);
void declare_merge(CLI::App& sub, command& chosen);
void declare_live(CLI::App& sub, command& chosen);
void declare_replay(CLI::App& sub, command& chosen);
void declare_report(CLI::App& sub, command& chosen);
void declare_compare(CLI::App& sub, command& chosen);
void declare_table(CLI::App& sub, command& chosen);
void declare_track(CLI::App& sub, command& chosen);
void declare_devices(CLI::App& sub, command& chosen);
void declare_doctor(CLI::App& sub, command& chosen);
void declare_completion(CLI::App& sub, command& chosen);
void declare_manual(CLI::App& sub, command& chosen);

void merge_episodes(const std::vector<part_record>& parts, const merge_target& target,
                    invocation& call);
void merge_spade(const std::vector<part_record>& parts, const merge_target& target,
                 invocation& call);

/// Chooses the `run` for these options when the command is parsed.
template <class Options>
void choose(CLI::App& app, command& chosen, const std::shared_ptr<Options>& options) {
    app.callback(
        [options, &chosen] { chosen = [options](invocation& call) { run(*options, call); }; });
}

/// Declares the options that their `describe` lists, and chooses their `run`.
/// @param examples  the end of the help
template <class Options>
void declare_options(CLI::App& app, command& chosen, const std::shared_ptr<Options>& options,
                     const char* examples) {
    add_described(app, describe(*options));
    app.footer(examples);
    choose(app, chosen, options);
}

}  // namespace spikeweave::cli
