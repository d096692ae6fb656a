#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/assess/surrogates.hpp"
#include "spikeweave/core/compatibility.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/core/export.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// The properties by which patterns are tested. All patterns with one signature share a p-value.
struct pattern_signature {
    std::uint32_t size = 0;      ///< spikes
    std::uint32_t count = 0;     ///< occurrences
    std::uint32_t duration = 0;  ///< bins from the first spike to the last; 0 with "#"

    friend auto operator<=>(const pattern_signature&, const pattern_signature&) = default;
};
/// The signature of one pattern of a table.
SPIKEWEAVE_API pattern_signature signature_of(const pattern_table& table, std::size_t pattern,
                                              spectrum_kind kind);

/// One signature of a p-value spectrum.
struct spectrum_entry {
    pattern_signature what{};
    std::uint32_t reached = 0;  ///< surrogates with a pattern at least that large and frequent
    double p = 0;               ///< reached / surrogates, as published

    friend bool operator==(const spectrum_entry&, const spectrum_entry&) = default;
};

/// The p-value spectrum (Torre et al. 2013, doi:10.3389/fncom.2013.00132; with lags Quaglio et
/// al. 2017, doi:10.3389/fncom.2017.00041, with durations Stella et al. 2019,
/// doi:10.1016/j.biosystems.2019.104022). For each signature it has the number of surrogates in
/// which some pattern of at least this size, and exactly this duration, occurs at least this often.
/// Signatures that no surrogate reached are not listed.
struct SPIKEWEAVE_API pvalue_spectrum {
    spectrum_kind kind = spectrum_kind::size_count;
    std::uint32_t surrogates = 0;
    std::vector<spectrum_entry> entries{};  ///< ascending by size, then duration, then count

    /// The number of surrogates that reached a signature; 0 if it is not listed.
    std::uint32_t reached(const pattern_signature& what) const;

    friend bool operator==(const pvalue_spectrum&, const pvalue_spectrum&) = default;
};

/// Collects the input of a spectrum from the surrogates: for each size and duration, how many
/// surrogates had each maximum. Its memory grows with the number of different maxima, not with
/// counts or windows. The order in which surrogates are added does not matter.
class SPIKEWEAVE_API maxima_tally {
public:
    /// @throws invalid_argument if `window_bins` is 0.
    maxima_tally(spectrum_kind kind, std::uint32_t window_bins);

    /// Adds one surrogate. @throws invalid_argument if its durations do not match.
    void add(const occurrence_maxima& surrogate);
    /// Adds the surrogates of another process.
    /// @throws invalid_argument if kind or window differ.
    void merge(const maxima_tally& other);

    std::uint32_t surrogates() const { return surrogates_; }
    /// Makes the spectrum for counts of at least `min_occ` and sizes from `min_spikes` to
    /// `max_spikes` (0 means no bound).
    /// @throws invalid_argument if there is no surrogate or a threshold is 0.
    pvalue_spectrum make_spectrum(std::uint32_t min_spikes, std::uint32_t max_spikes,
                                  std::uint32_t min_occ) const;
    /// Makes the spectrum for the sizes that meet a rule, each from the lowest `min_occ` of the
    /// rules that it meets.
    pvalue_spectrum make_spectrum(std::span<const pattern_rule> rules) const;

    std::string to_bytes() const;
    /// @throws invalid_argument if `to_bytes` did not write these bytes.
    static maxima_tally from_bytes(std::string_view bytes);

    friend bool operator==(const maxima_tally&, const maxima_tally&) = default;

private:
    /// Pairs (maximum, number of surrogates with it), ascending; maxima of 0 are left out.
    using cell = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

    void count(std::size_t at, std::uint32_t maximum, std::uint32_t surrogates);
    void list(std::uint32_t size, std::uint32_t min_occ, pvalue_spectrum& into) const;
    std::uint32_t sizes() const { return static_cast<std::uint32_t>(cells_.size() / durations_); }

    spectrum_kind kind_;
    std::uint32_t durations_;
    std::uint32_t surrogates_ = 0;
    std::vector<cell> cells_;  ///< one row of `durations_` cells for each size
};

/// A function that makes surrogate number `which`. It must be pure, since it is called from many
/// threads at once.
using surrogate_source = std::function<binned_spikes(std::uint32_t which)>;

/// Mines this part of surrogates 0 to `surrogates` - 1 and collects their maxima. Each surrogate is
/// mined on one thread, many at a time; with devices, by `find_maxima_on_devices`. With ranks, each
/// rank mines a block of them, and every rank gets the complete tally; if one rank throws, the
/// others wait for it until `communicator::abort`.
/// @throws invalid_argument if `surrogates` is 0; whatever the source and the search throw;
/// cancelled.
SPIKEWEAVE_API maxima_tally tally_surrogates(const surrogate_source& make, std::uint32_t surrogates,
                                             std::uint32_t window_bins,
                                             const pattern_mining_options& mining,
                                             spectrum_kind kind, const execution& run = {},
                                             const surrogate_part& part = {});

/// Options of `test_signatures`.
struct signature_test_options {
    double alpha = 0.05;  ///< in (0, 1]; at 1 nothing is tested and everything is significant
    correction_method correction = correction_method::benjamini_hochberg;
    /// `elephant` uses p = reached / surrogates. Among consecutive counts of one size and duration
    /// it tests only the highest and calls the others not significant, however small their p. It
    /// keeps signatures that no surrogate reached without a test.
    compatibility compat = compatibility::none;
};

/// Why a signature was tested or not.
enum class test_reason : std::uint8_t {
    tested,
    absent,        ///< no surrogate reached it; it is tested, except by Elephant
    p_is_one,      ///< every surrogate reached it: not tested, not significant
    masked,        ///< Elephant only: not tested because the next higher count is
    single_entry,  ///< Elephant only: not tested because the spectrum has no other entry
    alpha_is_one,  ///< alpha is 1: nothing is tested, everything is significant
};
/// The reason in words.
SPIKEWEAVE_API std::string_view to_string(test_reason reason);

/// The test result for one signature.
struct signature_test {
    pattern_signature what{};
    std::uint64_t patterns = 0;  ///< patterns with this signature found in the data
    std::uint32_t reached = 0;   ///< surrogates with a pattern at least that large and frequent
    /// (reached + 1) / (surrogates + 1): the data count as one more surrogate, so that p is never
    /// 0 and the test is exact (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
    double p = 1;
    /// p corrected for all tested signatures; if not tested, p for the reason `absent`, else 1.
    double q = 1;
    bool tested = false;
    bool significant = false;
    test_reason reason = test_reason::tested;
};

/// The result of `test_signatures`.
struct signature_test_result {
    std::vector<signature_test> signatures{};  ///< all signatures found, in the given order
    /// Signatures that are not significant, for the reduction, which also asks for signatures that
    /// were not found. The first are the signatures of the spectrum, in its order, whose p is above
    /// that of every significant one (with `elephant`: those that were not tested and found
    /// significant); then the signatures found that are neither in that list nor significant.
    std::vector<pattern_signature> not_significant{};
};

/// Tests the signatures found in the data, except those that every surrogate reached.
/// @param found  the signatures from `count_signatures`, with the thresholds of the spectrum
/// @throws invalid_argument if the spectrum has no surrogates or alpha is outside (0, 1].
SPIKEWEAVE_API signature_test_result test_signatures(std::span<const signature_count> found,
                                                     const pvalue_spectrum& spectrum,
                                                     const signature_test_options& testing = {});

/// The test of each pattern of a table: that of its signature.
/// @throws invalid_argument if a pattern has a signature that is not among the tested ones.
SPIKEWEAVE_API std::vector<const signature_test*> tests_of_patterns(
    const pattern_table& table, spectrum_kind kind, std::span<const signature_test> tested);

/// The pattern spectrum filter: keeps the patterns whose signature is not among the given ones. It
/// works block by block, for searches with many patterns.
class SPIKEWEAVE_API pattern_filter {
public:
    pattern_filter(spectrum_kind kind, std::span<const pattern_signature> not_significant);

    /// Indices of the patterns of this block to keep.
    std::vector<std::size_t> kept(const pattern_table& block) const;

private:
    spectrum_kind kind_;
    std::vector<pattern_signature> dropped_;  // ascending
};
/// Applies the same filter to one table.
SPIKEWEAVE_API std::vector<std::size_t> filter_patterns(
    const pattern_table& table, spectrum_kind kind,
    std::span<const pattern_signature> not_significant);

/// The p-value spectrum and the tests of the signatures with it.
struct pattern_test_result {
    pvalue_spectrum spectrum{};
    signature_test_result tests{};
};

/// Makes the spectrum of the surrogates and tests the signatures with it.
/// @param rules  those that the data and the surrogates were mined with
/// @throws invalid_argument like `maxima_tally::make_spectrum` and `test_signatures`.
SPIKEWEAVE_API pattern_test_result test_patterns(std::span<const signature_count> found,
                                                 const maxima_tally& surrogates,
                                                 std::span<const pattern_rule> rules,
                                                 const signature_test_options& testing = {});

/// Mines the surrogates first. The result is the same for any number of threads and ranks, and
/// complete on each rank.
/// @param mining  the options that the data were mined with
SPIKEWEAVE_API pattern_test_result test_patterns(
    std::span<const signature_count> found, const surrogate_source& make, std::uint32_t surrogates,
    std::uint32_t window_bins, const pattern_mining_options& mining, spectrum_kind kind,
    const signature_test_options& testing = {}, const execution& run = {});

}  // namespace spikeweave
