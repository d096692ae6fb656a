#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/spikeweave.hpp"

namespace spikeweave::cli {

/// The options of the search, and those of the command itself.
struct spade_choices : spade_options {
    spade_choices() { called = option_name; }

    /// The options that were typed, such as "--alpha".
    std::set<std::string> given{};
    std::string path{};
    spike_read_options how{};
    bool transactions = false;  ///< FILE holds windows, not spikes
    /// Empty: the terminal's result is all.
    std::string to{};
    bool overwrite = false;
    bool json = false;
    bool occurrences = false;
    bool nwb = false;
    /// Of the table that `epochs` are read from.
    std::string epochs_path{};
    std::vector<std::string> only_units{};
    int threads = 0;
    std::uint64_t max_memory_bytes = 0;

    bool was_given(const std::string& option) const { return given.contains(option); }
    /// "--min-occ" of "min_occ".
    static std::string option_name(std::string_view field);
};

void add_options(CLI::App& app, spade_choices& choices);

/// What the options say without a look at the data.
/// @throws invalid_argument for what does not go together.
void check(const spade_choices& choices);

/// Where an option changes nothing, as whole sentences.
std::vector<std::string> warnings_of(const spade_choices& choices);

/// Minimum occurrences: "86 (2 spikes of 2 or more units); 25 (3 or more spikes of as many units)"
std::string describe(const std::vector<pattern_rule>& rules);

/// Every parameter as it was resolved, for the record of the run.
parameter_list resolved_parameters(const spade_choices& choices,
                                   const std::vector<pattern_rule>& rules);

}  // namespace spikeweave::cli
