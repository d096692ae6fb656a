#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "spikeweave/core/enum_names.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/options.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// One spike of a pattern, encoded as published: `unit * window_bins + lag`. The lag is the number
/// of bins from the start of the window.
using pattern_item = std::uint32_t;

/// The windows in which SPADE searches for patterns (Torre et al. 2013,
/// doi:10.3389/fncom.2013.00132; Quaglio et al. 2017, doi:10.3389/fncom.2017.00041). A window
/// starts at every bin in which some unit fires. The window at bin w contains the item (unit, lag)
/// if the unit fires in bin w + lag.
///
/// An item takes 4 bytes; a spike is in at most `window_bins` windows.
class SPIKEWEAVE_API spade_windows {
public:
    /// @throws invalid_argument if `window_bins` is 0 or unit_count * window_bins does not fit in
    /// 31 bits; cancelled.
    spade_windows(const binned_spikes& spikes, std::uint32_t window_bins,
                  const std::stop_token& stop = {});
    /// Uses windows that already exist, as in the published benchmark. Their start bins are not
    /// known, so `pattern_table::occurrences` holds numbers of windows.
    /// @param offsets  index of each window's first item, plus the number of all items at the end
    /// @param items    strictly ascending within a window, below unit_count * window_bins
    spade_windows(std::vector<std::size_t> offsets, std::vector<pattern_item> items,
                  std::size_t unit_count, std::uint32_t window_bins);

    std::size_t size() const { return starts_.size(); }
    std::size_t unit_count() const { return unit_count_; }
    std::uint32_t window_bins() const { return window_bins_; }
    /// The items of one window, strictly ascending.
    std::span<const pattern_item> items(std::size_t window) const {
        return std::span{items_}.subspan(offsets_[window], offsets_[window + 1] - offsets_[window]);
    }
    std::size_t item_count() const { return items_.size(); }
    /// The items of all windows, one window after another.
    std::span<const pattern_item> all_items() const { return items_; }
    /// The index of each window's first item in these, and their number at the end.
    std::span<const std::size_t> offsets() const { return offsets_; }
    /// The bin at which each window starts, ascending; if the windows were not made from bins, the
    /// number of each window.
    std::span<const std::uint32_t> starts() const { return starts_; }
    /// Whether the windows were made from bins, so that `starts` are bins. Only then is it known
    /// which spikes precede a window.
    bool from_bins() const { return from_bins_; }

private:
    std::size_t unit_count_ = 0;
    std::uint32_t window_bins_ = 0;
    bool from_bins_ = false;
    std::vector<std::size_t> offsets_{0};
    std::vector<pattern_item> items_;
    std::vector<std::uint32_t> starts_;
};

/// Reads a file with one window per line. A line lists the items as numbers separated by blanks, in
/// any order; an empty line is a window without items. The file may be compressed with gzip. The
/// number of units follows from the largest item.
/// @throws io_error with the line if a word is not a number, an item is repeated or above 2^31 - 1;
/// also if the file has no item.
SPIKEWEAVE_API spade_windows read_transactions(const std::filesystem::path& path,
                                               std::uint32_t window_bins,
                                               const execution& run = {});

/// Thresholds that a pattern must meet to be reported. The names are Elephant's.
struct pattern_rule {
    std::uint32_t min_occ = 2;     ///< fewest occurrences (windows); at least 1
    std::uint32_t min_spikes = 2;  ///< fewest spikes of a pattern; at least 1
    std::uint32_t max_spikes = 0;  ///< most spikes of a pattern; 0 means no bound
    std::uint32_t min_neu = 1;     ///< fewest different units; at least 1

    friend bool operator==(const pattern_rule&, const pattern_rule&) = default;
};
SPIKEWEAVE_API option_list describe(pattern_rule& rule);

/// The algorithms of the search. All find the same patterns in the same order.
enum class spade_strategy : std::uint8_t {
    automatic,
    fp_growth,  ///< FP-growth with the filter in the collector, after Porrmann et al. 2021
                ///< (doi:10.3389/fninf.2021.723406)
    first_bin,  ///< depth-first search of closed patterns only, from spikes in the first bin
};
template <>
SPIKEWEAVE_API enum_table<spade_strategy> enum_names<spade_strategy>();
/// The strategies that this build can run on this machine, `automatic` first.
SPIKEWEAVE_API std::vector<spade_strategy> available_spade_strategies();

struct pattern_mining_options {
    /// A pattern is reported if it meets at least one of these rules, so that a single search can
    /// use different thresholds for different sizes.
    std::vector<pattern_rule> rules{pattern_rule{}};
    std::uint32_t max_occ = 0;  ///< patterns with more occurrences are left out; 0 means no bound
    /// Leaves out patterns that are part of a longer pattern with the same occurrences that begins
    /// earlier (Elephant's filter for moving windows). Applies only to windows `from_bins` of at
    /// least two bins.
    bool drop_window_subsets = true;
    bool with_occurrences = true;
    /// Elephant's shortcut: if all windows contain the same items, these are reported as the only
    /// pattern, regardless of the rules and `max_occ`.
    bool take_identical_windows = false;
    spade_strategy strategy = spade_strategy::automatic;
};

/// Closed patterns, stored as flat arrays.
///
/// The items of a pattern are in time order: by lag, then by unit; the first has lag 0. The order
/// of the patterns does not depend on the strategy. They are sorted by their first item. Patterns
/// that share it are sorted like words whose letters are the other items; the alphabet begins with
/// the item that is in the fewest windows together with the first one (ties in time order). A
/// search can visit patterns in this order fast and without collecting them.
struct SPIKEWEAVE_API pattern_table {
    std::uint32_t window_bins = 1;
    std::vector<std::uint64_t> item_offsets{0};  ///< size() + 1 elements
    std::vector<pattern_item> items{};
    std::vector<std::uint32_t> counts{};               ///< number of windows with each pattern
    std::vector<std::uint64_t> occurrence_offsets{0};  ///< size() + 1, or {0} without occurrences
    std::vector<std::uint32_t> occurrences{};          ///< start bins of each pattern, ascending

    std::size_t size() const { return counts.size(); }
    bool empty() const { return counts.empty(); }
    std::span<const pattern_item> pattern(std::size_t i) const {
        return std::span{items}.subspan(item_offsets[i], item_offsets[i + 1] - item_offsets[i]);
    }
    std::span<const std::uint32_t> occurrences_of(std::size_t i) const {
        return std::span{occurrences}.subspan(occurrence_offsets[i],
                                              occurrence_offsets[i + 1] - occurrence_offsets[i]);
    }
    unit_id unit(pattern_item item) const { return unit_id{item / window_bins}; }
    std::uint32_t lag(pattern_item item) const { return item % window_bins; }
    /// The number of bins from the first spike to the last.
    std::uint32_t duration(std::size_t i) const { return lag(items[item_offsets[i + 1] - 1]); }

    void append(std::span<const pattern_item> pattern, std::uint32_t count,
                std::span<const std::uint32_t> starts = {});

    friend bool operator==(const pattern_table&, const pattern_table&) = default;
};

/// The numbers of patterns that a search found and dropped.
struct mining_summary {
    std::uint64_t closed = 0;          ///< closed patterns that meet a rule
    std::uint64_t window_subsets = 0;  ///< those of them that were dropped as parts of longer ones
    std::uint64_t too_frequent = 0;    ///< those of the rest that were dropped by `max_occ`
    spade_strategy ran_on = spade_strategy::automatic;
};

/// Finds every closed pattern that meets a rule. In a closed pattern one spike is in the first bin,
/// and no spike can be added without losing an occurrence, even beyond `max_spikes`. The patterns
/// are passed to `take` block by block in the order of `pattern_table`, from one thread at a time.
/// The first of the devices of `run` searches with `first_bin`; parts that do not fit into its
/// memory are searched by threads.
/// @throws invalid_argument if a rule is invalid, or devices are given with FP-growth or several
/// ranks; device_error; cancelled.
SPIKEWEAVE_API mining_summary mine_patterns(
    const spade_windows& windows, const pattern_mining_options& options,
    const std::function<void(const pattern_table& block)>& take, const execution& run = {});

/// The patterns and the summary of a search.
struct pattern_mining_result {
    pattern_table table{};
    mining_summary summary{};
};
/// Finds the same patterns and collects them in one table.
SPIKEWEAVE_API pattern_mining_result mine_patterns(const spade_windows& windows,
                                                   const pattern_mining_options& options,
                                                   const execution& run = {});

/// The cost of a search, extrapolated from a small part of it, to within a factor of about two.
struct spade_estimate {
    std::uint64_t candidates = 0;  ///< patterns that the search will examine
    std::uint64_t patterns = 0;    ///< patterns that it will find
    double seconds = 0;            ///< run time of `first_bin` on one thread
    bool at_least = false;  ///< even a small part took too long: all numbers may be far too low
    std::uint64_t search_bytes = 0;
    std::uint64_t table_bytes = 0;  ///< size of a table with all patterns
};
/// Estimates the cost of `mine_patterns`, in about half a second, at most two seconds.
/// @throws invalid_argument, cancelled, like `mine_patterns`.
SPIKEWEAVE_API spade_estimate estimate_mining(const spade_windows& windows,
                                              const pattern_mining_options& options,
                                              const execution& run = {});

/// The properties that make up the signature of a pattern. The names in quotes are Elephant's.
enum class spectrum_kind : std::uint8_t {
    size_count,           ///< "#": signatures are (size, count)
    size_count_duration,  ///< "3d#": (size, count, duration)
};
template <>
SPIKEWEAVE_API enum_table<spectrum_kind> enum_names<spectrum_kind>();

/// The largest count of any pattern, by size and duration.
struct occurrence_maxima {
    std::uint32_t durations = 1;  ///< window_bins with "3d#", 1 with "#"
    /// Rows of `durations` columns. Row z holds the largest count of any reported pattern with z or
    /// more spikes and exactly that duration, 0 if there is none. The last row is the size of the
    /// largest pattern found.
    std::vector<std::uint32_t> most{};

    std::uint32_t sizes() const { return static_cast<std::uint32_t>(most.size() / durations); }
    std::uint32_t at(std::uint32_t size, std::uint32_t bins) const {
        return size < sizes() ? most[std::size_t{size} * durations + bins] : 0;
    }
    friend bool operator==(const occurrence_maxima&, const occurrence_maxima&) = default;
};

/// Finds the maxima of the patterns that `mine_patterns` would find, by branch and bound: patterns
/// that cannot raise a maximum are not visited. This is all that is needed of surrogates. Patterns
/// with more than `max_occ` occurrences are left out here too; they raise no maximum, not even that
/// of smaller sizes.
SPIKEWEAVE_API occurrence_maxima find_occurrence_maxima(const spade_windows& windows,
                                                        const pattern_mining_options& options,
                                                        spectrum_kind kind,
                                                        const execution& run = {});

/// A signature and the number of patterns that have it.
struct signature_count {
    std::uint32_t size = 0;      ///< spikes of the pattern
    std::uint32_t count = 0;     ///< occurrences of the pattern
    std::uint32_t duration = 0;  ///< bins from the first spike to the last; 0 with "#"
    std::uint64_t patterns = 0;  ///< patterns with this signature

    friend auto operator<=>(const signature_count&, const signature_count&) = default;
};
/// Counts the patterns of each signature, ascending, without zeros: Elephant's report "#" or "3d#".
SPIKEWEAVE_API std::vector<signature_count> count_signatures(const pattern_table& table,
                                                             spectrum_kind kind);

/// Options for deriving a threshold for each size from the firing rates (Stella et al. 2022,
/// doi:10.1523/ENEURO.0505-21.2022, as computed by their code). `min_occ` is chosen so that a
/// pattern of z spikes, of units that fire at the given percentile of the rates, reaches it in a
/// Poisson model with at most the given probability.
struct min_occ_options {
    double rate_percentile = 90;
    double poisson_percentile = 95;
    std::uint32_t least_occ = 10;
    std::uint32_t least_spikes = 2;
    std::uint32_t most_spikes = 10;  ///< this size and all larger ones share one rule
};
SPIKEWEAVE_API option_list describe(min_occ_options& options);

/// Applies the recipe to the firing rates of a recording.
/// @param spike_counts  number of spikes of each unit, not clipped
/// @return one rule per size, with min_neu = min_spikes
/// @throws invalid_argument if no unit fires or the window is too short.
SPIKEWEAVE_API std::vector<pattern_rule> estimate_rules(std::span<const std::size_t> spike_counts,
                                                        duration length, duration bin,
                                                        std::uint32_t window_bins,
                                                        const min_occ_options& recipe = {});

}  // namespace spikeweave
