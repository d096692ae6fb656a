#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/spikes/cleaning.hpp"
#include "spikeweave/spikes/shared_spikes.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave {

/// File formats of spikes, described in docs/formats.md.
enum class spike_format : std::uint8_t {
    automatic,
    text,      ///< delimited text, one spike per line, also gzip-compressed
    wagenaar,  ///< `.spk.txt` of Wagenaar et al. 2006: `time_s channel`, channel 60 is the stimulus
    meabench,  ///< MEABench `.spike` binary records
    npy,       ///< one `.npy` array: n × 2 (time_s, unit)
    npz,       ///< `.npz`: pynapple TsGroup, or arrays `times`/`t` and `units`/`index`
    phy,       ///< folder with params.py, spike_times.npy, spike_clusters.npy
    klustakwik,  ///< `.res.N` with `.clu.N` beside it
    nwb,         ///< NWB 2.x, table /units (needs SPIKEWEAVE_HDF5)
    session,     ///< a session of `spikeweave live` (needs SPIKEWEAVE_LIVE)
    alf,         ///< folder with spikes.times.npy and spikes.clusters.npy, as those of the IBL
    open_ephys,  ///< folder of spikes in a recording of Open Ephys in its binary format
    kwik,        ///< `.kwik` of klusta (needs SPIKEWEAVE_HDF5)
    eglen,       ///< cultures in the HDF5 of Eglen et al. 2014, `/spikes`, `/sCount` (needs
                 ///< SPIKEWEAVE_HDF5)
};

template <>
SPIKEWEAVE_API enum_table<spike_format> enum_names<spike_format>();

struct spike_read_options {
    spike_format format = spike_format::automatic;
    /// Unit of the times in text and npy files: "s", "ms", "us", "ns" or "samples:RATE". Empty: as
    /// stated in the file, else seconds.
    std::string time_unit{};
    /// Accept times before zero (recordings aligned to an event); otherwise they are an error,
    /// because they are usually mistakes.
    bool allow_negative = false;
    /// The labels of the units to use, as for `choose_by_label`; units that this leaves out are not
    /// looked at further.
    std::vector<std::string> labels{};
    /// The units, groups or wells to use (`choose_units`); empty: all. Units that repeat another
    /// are searched for among these only; artefacts of the array are searched for in all.
    std::vector<std::string> only_units{};
    /// Leave out units that repeat the spikes of another (spikes/shared_spikes.hpp).
    bool drop_duplicates_of_units = false;
    /// Other omissions, after that.
    spike_cleaning_options cleaning{};
    /// A file of groups of units, each of which is then one unit (`read_unit_groups`); may be
    /// empty. A group keeps its other units if some are left out, with a warning.
    std::filesystem::path groups{};
    /// A spike no later than this after the last counted one of its group is not counted.
    duration group_window{0};
    /// A file of the positions of units (`read_layout`), instead of those of the file or of the
    /// names of the units; may be empty.
    std::filesystem::path layout{};
};
SPIKEWEAVE_API option_list describe(spike_read_options& options);

/// Information about a file besides its spikes. Everything dropped is counted here.
struct spike_file {
    spike_sequence spikes;
    /// Stimulus markers (channel 60 of a 60-electrode array), in microseconds; not a unit.
    std::vector<std::int64_t> stimulus_us{};
    spike_format format = spike_format::automatic;
    std::size_t duplicates = 0;
    std::size_t out_of_order = 0;
    /// The label of each unit, such as "good", "mua", "noise" or "unsorted"; empty if the file has
    /// none, and after grouping.
    std::vector<std::string> labels{};
    /// The names of units that were left out because of their labels, and these.
    std::vector<std::pair<std::string, std::string>> left_out_by_label{};
    /// Units that repeat another, left out because the options request it.
    std::vector<dropped_unit> dropped{};
    /// The units and spikes that the options of cleaning left out.
    spikes_left_out left_out{};
    /// The number of units that are groups, and the number of their spikes that were not counted.
    std::size_t groups = 0;
    std::size_t merged = 0;
    /// Groups whose units were all left out.
    std::vector<std::string> empty_groups{};
    /// The signal-to-noise ratio of each unit, NaN where it is unknown; empty if it was not asked
    /// for, if the file has none, and after grouping.
    std::vector<double> snr{};
    /// Whether the units are clusters of a sorter, and so no electrodes.
    bool are_clusters = false;
    /// Whether the file states the beginning and end of the recording. If not, the span is from the
    /// first spike to the last.
    bool has_recorded_span = false;
    /// Warnings about the file, such as spikes labelled noise, as full sentences. `check_spikes`
    /// warns about the spikes themselves.
    std::vector<std::string> warnings{};
};

/// Reads spikes; the format is detected from the content, and from the extension if the content is
/// ambiguous. Needs about 13 bytes per spike at peak if they are in order, at most 24.
/// @throws io_error naming the file, the line or record, what was found and what was expected.
SPIKEWEAVE_API spike_file read_spikes(const std::filesystem::path& path,
                                      const spike_read_options& how = {},
                                      const execution& run = {});

/// Spikes that another library has read, unit by unit as its file lists them.
struct listed_units {
    std::vector<double> times_s{};      ///< one unit after another
    std::vector<std::uint64_t> ends{};  ///< where each unit ends in `times_s`
    /// The names of the units, and other names if these repeat; either may be empty.
    std::vector<std::string> names{};
    std::vector<std::string> ids{};
    /// Columns of texts with one for each unit, by name. Labels are in the first of `quality`,
    /// `label`, `KSLabel` and the like that has some.
    std::map<std::string, std::vector<std::string>> columns{};
    std::vector<double> snr{};            ///< of each unit; empty if there are none
    std::vector<unit_place> places{};     ///< of each unit; empty if there are none
    std::vector<double> observed_s{};     ///< begin and end of each observed interval; may be empty
    bool are_32_bit = false;              ///< whether the file has times of 32 bits
    bool are_clusters = true;             ///< whether the units are clusters of a sorter
    std::vector<std::string> warnings{};  ///< of the library that has read them
};

/// Processes units like `read_spikes` does for its own formats: checks their values, warns, and
/// leaves out what the options exclude. The units keep the order in which they are listed.
/// @param path  the file, which is not opened: errors name it
/// @throws io_error, and invalid_argument as `read_spikes`.
SPIKEWEAVE_API spike_file take_units(const std::filesystem::path& path, const listed_units& units,
                                     const spike_read_options& how = {}, const execution& run = {});

/// The columns of units that may have labels, in the order in which they are searched for.
SPIKEWEAVE_API std::span<const std::string_view> label_columns();

/// Writes spikes atomically, in the format given by the extension: `.tsv`
/// `.txt` `.csv` (also with `.gz`), `.npz`, `.nwb`. `read_spikes` returns the same sequence, with
/// units in natural order and, from `.nwb`, with simultaneous spikes in the order of units.
/// @param overwrite  false: a file of that name, even one that appears meanwhile, is an error
/// @throws io_error; invalid_argument for an extension that has no writer, a unit's name that the
/// format cannot contain, and times beyond 71 years in `.npz` and `.nwb`.
SPIKEWEAVE_API void write_spikes(const std::filesystem::path& path, const spike_sequence& spikes,
                                 const execution& run = {}, bool overwrite = true);

/// A value for each unit, in the order of the sequence's units.
struct unit_column {
    std::string name{};
    std::string description{};
    std::vector<double> values{};      ///< NaN if missing
    std::vector<std::string> texts{};  ///< instead of values
};

/// The column in which `read_spikes` finds the labels of units, in a file of this name: `quality`
/// in an `.nwb`, as in most NWB files; `label` in an `.npz`.
SPIKEWEAVE_API unit_column label_column(const std::filesystem::path& path,
                                        std::vector<std::string> labels);

/// `write_spikes` to an `.nwb` or `.npz`, with more columns of its units. In an `.npz` each is an
/// array, which pynapple reads as metadata.
/// @throws as `write_spikes`; invalid_argument also unless each column has a value for each unit.
SPIKEWEAVE_API void write_units(const std::filesystem::path& path, const spike_sequence& spikes,
                                std::span<const unit_column> columns, const execution& run = {},
                                bool overwrite = true);

/// The warnings of `spikeweave info`: double spikes 0.1 to 0.2 ms apart in one unit, milliseconds
/// read as seconds, a channel 60 among electrodes 0 to 59, artefacts (many units in one tick),
/// units that repeat another, wells of a plate that are several cultures. Full sentences; empty for
/// clean data.
/// @param are_clusters  whether the units are clusters of a sorter, whose numbers are no channels
SPIKEWEAVE_API std::vector<std::string> check_spikes(const spike_sequence& spikes,
                                                     bool are_clusters = false);

/// The warning that times begin again as those of trials do, which then overlap; empty if they do
/// not.
/// @param trial_column  a column that numbers trials, if there is one
SPIKEWEAVE_API std::string warning_of_trials(const repeated_begins& begins,
                                             std::string_view trial_column = {});

/// The warning that 32-bit numbers are too coarse for times up to `largest_s`; empty if they are
/// not.
SPIKEWEAVE_API std::string warning_of_32_bits(double largest_s);

/// All messages about a file before its spikes are mined, as full sentences: its warnings,
/// `check_spikes`, and the units, duplicates and stimulus markers left out.
SPIKEWEAVE_API std::vector<std::string> warnings_of(const spike_file& file);

}  // namespace spikeweave
