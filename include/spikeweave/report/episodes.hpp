#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "spikeweave/assess/circuit.hpp"
#include "spikeweave/assess/episode_surrogates.hpp"
#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/episode.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// All that `spikeweave episodes` found, ready to be written. Move into it what is not needed any
/// more.
struct episode_report {
    spike_sequence spikes;
    episode_table table{};
    /// One element an episode of the table.
    std::vector<assessed_episode> assessed{};
    /// Empty, or one element an episode of the table.
    std::vector<surrogate_assessment> surrogates{};
    circuit found{};
    significance_options significance{};
    /// How `surrogates` came about; not looked at when that is empty.
    surrogate_options surrogate{};
    circuit_options circuit_rules{};
    /// Whether the folder gets `occurrences.tsv`: the time of every spike of every occurrence of
    /// the circuit's chains and direct edges.
    bool with_occurrences = false;
    run_record run{};
};

/// Writes `episodes.tsv`, `circuit.tsv`, `circuit.graphml`, `circuit.svg`, `run.json` and, when
/// asked for, `occurrences.tsv`; docs/results.md has their columns. The files are the same byte for
/// byte for the same spikes, parameters and seed; only `run.json` holds times, memory and threads.
///
/// The folder is made aside and renamed, so that it is whole or absent.
/// @param overwrite  whether a folder of that name may be replaced; it is kept until the new one is
/// whole
/// @throws io_error if the folder exists and may not be replaced, holds files that are not ours, or
/// cannot be written; invalid_argument if the parts do not belong together; cancelled.
void write_episode_report(const std::filesystem::path& folder, const episode_report& report,
                          bool overwrite = false, const execution& run = {});

/// Everything but the occurrences as one JSON document, for `--json`.
std::string to_json(const episode_report& report);

/// The result in a page of text for a terminal: the chains, the circuit's strongest edges and the
/// levels of the search.
std::string summarize(const episode_report& report, bool colour = false);

}  // namespace spikeweave
