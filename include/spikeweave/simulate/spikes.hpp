#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

/// Spikes with known ground truth. The same seed gives the same result on every machine.
namespace spikeweave {

/// A planted connection: a spike of `from` makes `to` fire with `probability` in the tick that
/// begins `delay` later.
struct planted_edge {
    unit_id from;
    unit_id to;
    duration delay;
    double probability;

    friend bool operator==(const planted_edge&, const planted_edge&) = default;
};

struct simulated_spikes {
    spike_sequence spikes;
    std::vector<planted_edge> truth{};
    /// Planted chains as lists of units; their steps are in `truth`.
    std::vector<std::vector<unit_id>> chains{};
};

/// Sym26 (docs/algorithms/episodes.md): inhomogeneous Poisson neurons coupled through a sigmoid,
/// after Patnaik, Sastry and Unnikrishnan 2008, two chains embedded in 26 units.
struct sym26_options {
    std::uint32_t units = 26;
    duration length = std::chrono::seconds{60};
    /// Chain lengths; chains use consecutive units from 0.
    std::vector<std::uint32_t> chains{4, 8};
    double rest_rate_hz = 20;
    double probability = 0.8;
    duration delay = std::chrono::milliseconds{5};
    /// Each spike's transmission takes delay ± jitter ticks, uniformly.
    duration jitter{0};
    /// Give each ordered pair with probability 0.25 a connection of strength 0.01 to 0.03, about
    /// chance level. These are not part of the ground truth.
    bool background = false;
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(sym26_options& options);

/// @throws invalid_argument if an option is out of range, such as chains longer than the units;
/// cancelled.
SPIKEWEAVE_API simulated_spikes simulate_sym26(const sym26_options& options = {},
                                               const execution& run = {});

/// A dissociated culture: quiet channels, and network bursts in which every channel fires at its
/// own constant rate, drawn for every burst. The quiet time between bursts is
/// exponential. No structure is planted unless chains are requested. Channels are named 0, 1, …
struct culture_options {
    std::uint32_t channels = 60;
    duration length = std::chrono::seconds{300};
    double background_hz = 0.5;
    duration burst_every = std::chrono::seconds{5};
    duration burst_length = std::chrono::milliseconds{400};
    double burst_low_hz = 30;
    double burst_high_hz = 150;
    std::vector<std::uint32_t> chains{};
    double probability = 0.8;
    duration delay = std::chrono::milliseconds{5};
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(culture_options& options);

/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API simulated_spikes simulate_culture(const culture_options& options = {},
                                                 const execution& run = {});

/// Independent homogeneous Poisson units, without a refractory period: the null hypothesis of
/// `significance_test::exact`. Units are named n0, n1, …
struct poisson_options {
    std::uint32_t units = 26;
    duration length = std::chrono::seconds{60};
    double rate_hz = 20;
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(poisson_options& options);

/// @throws invalid_argument if an option is out of range; cancelled.
SPIKEWEAVE_API simulated_spikes simulate_poisson(const poisson_options& options = {},
                                                 const execution& run = {});

/// The variation of the rates of `simulate_patterns`; the mean over units and time is always the
/// same.
enum class rate_profile : std::uint8_t {
    constant,  ///< one rate
    spread,    ///< one rate per unit, uniform from a third to five thirds of the mean
    steps,     ///< four times the mean in each second from 400 to 500 ms, all units at once; two
               ///< thirds of it between
    wave,      ///< the same step for one unit after the other, from 0 to 900 ms of each second
};
template <>
SPIKEWEAVE_API enum_table<rate_profile> enum_names<rate_profile>();

/// Independent units with planted patterns, for SPADE. The intervals between the spikes of a
/// unit are gamma distributed in operational time, after a dead time that is not. Units are named
/// n0, n1, …
struct patterns_options {
    std::uint32_t units = 100;
    duration length = std::chrono::seconds{10};
    /// Spikes of each pattern; patterns use consecutive units from 0.
    std::vector<std::uint32_t> patterns{5};
    std::uint32_t occurrences = 10;               ///< of each pattern, without overlap with itself
    duration lag = std::chrono::milliseconds{5};  ///< from one spike of a pattern to the next
    double rate_hz = 15;                          ///< of each unit, not counting planted spikes
    rate_profile rates = rate_profile::constant;
    std::uint32_t gamma_order = 1;  ///< 1: Poisson; more: more regular
    duration dead_time{0};          ///< between two spikes of a unit, except planted ones
    std::uint64_t seed = 0;
};
SPIKEWEAVE_API option_list describe(patterns_options& options);

struct planted_pattern {
    std::vector<unit_id> units{};
    std::vector<duration> lags{};   ///< of each unit's spike after the first, which is 0
    std::vector<duration> times{};  ///< of the first spikes, ascending
};

struct simulated_patterns {
    spike_sequence spikes;
    std::vector<planted_pattern> truth{};
};
/// @throws invalid_argument if an option is out of range, such as more units in patterns than there
/// are; cancelled.
SPIKEWEAVE_API simulated_patterns simulate_patterns(const patterns_options& options = {},
                                                    const execution& run = {});

/// Writes the planted connections as tab-separated text, one per line: from, to, delay_ms,
/// probability, chain (its number from 0, or "-" for one that is in no chain). Written atomically.
/// @throws io_error.
SPIKEWEAVE_API void write_truth(const std::filesystem::path& path,
                                const simulated_spikes& simulated);
/// Writes the planted patterns with the columns of `patterns.tsv`.
SPIKEWEAVE_API void write_truth(const std::filesystem::path& path,
                                const simulated_patterns& simulated);

/// The file of the truth that belongs to a file of spikes: `sym26.truth.tsv` of `sym26.tsv.gz`.
SPIKEWEAVE_API std::filesystem::path truth_path(const std::filesystem::path& spikes);

/// Writes the spikes like `write_spikes`, and the truth into the file of `truth_path`.
/// @param overwrite  false: files of these names, even if they appear meanwhile, are an error
/// @throws io_error, invalid_argument, like `write_spikes`; a truth of other spikes is never left
/// beside them.
SPIKEWEAVE_API void write_simulation(const std::filesystem::path& path,
                                     const simulated_spikes& simulated, const execution& run = {},
                                     bool overwrite = true);
SPIKEWEAVE_API void write_simulation(const std::filesystem::path& path,
                                     const simulated_patterns& simulated, const execution& run = {},
                                     bool overwrite = true);

}  // namespace spikeweave
