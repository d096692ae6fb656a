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

#include "spikeweave/assess/significance.hpp"
#include "spikeweave/core/execution.hpp"
#include "spikeweave/mine/spade.hpp"
#include "spikeweave/spikes/binned_spikes.hpp"

namespace spikeweave {

/// Whose decisions are taken where Elephant's SPADE and what is right differ.
enum class compatibility : std::uint8_t { none, elephant };

/// What patterns are tested by: all of one signature share a p-value.
struct signature {
    std::uint32_t size = 0;      ///< spikes
    std::uint32_t count = 0;     ///< occurrences
    std::uint32_t duration = 0;  ///< bins from the first spike to the last; 0 with "#"

    friend auto operator<=>(const signature&, const signature&) = default;
};
signature signature_of(const pattern_table& table, std::size_t pattern, spectrum_kind kind);

struct spectrum_entry {
    signature what{};
    std::uint32_t reached = 0;  ///< surrogates with a pattern that large, that frequent
    double p = 0;               ///< reached / surrogates, as published

    friend bool operator==(const spectrum_entry&, const spectrum_entry&) = default;
};

/// The p-value spectrum (Torre et al. 2013, doi:10.3389/fncom.2013.00132; with lags Quaglio et
/// al. 2017, doi:10.3389/fncom.2017.00041, with durations Stella et al. 2019,
/// doi:10.1016/j.biosystems.2019.104022): in
/// how many surrogates some pattern of at least this size, with just this duration, occurs at least
/// this often. What no surrogate reached is not listed.
struct pvalue_spectrum {
    spectrum_kind kind = spectrum_kind::size_count;
    std::uint32_t surrogates = 0;
    std::vector<spectrum_entry> entries{};  ///< ascending by size, then duration, then count

    /// 0 for what is not listed.
    std::uint32_t reached(const signature& what) const;

    friend bool operator==(const pvalue_spectrum&, const pvalue_spectrum&) = default;
};

/// What a spectrum needs of the surrogates: for each size and duration, how many surrogates had
/// which maximum. It grows with the number of different maxima, not with counts or windows, and is
/// the same in whatever order surrogates come in.
class maxima_tally {
public:
    /// @throws invalid_argument for no bins.
    maxima_tally(spectrum_kind kind, std::uint32_t window_bins);

    /// @throws invalid_argument unless the durations fit.
    void add(const occurrence_maxima& surrogate);
    /// Adds the surrogates of another process. @throws invalid_argument unless both are alike.
    void merge(const maxima_tally& other);

    std::uint32_t surrogates() const { return surrogates_; }
    /// Lists counts from `min_occ` on, sizes from `min_spikes` to `max_spikes` (0: no bound).
    /// @throws invalid_argument without a surrogate or for a threshold of 0.
    pvalue_spectrum make_spectrum(std::uint32_t min_spikes, std::uint32_t max_spikes,
                                  std::uint32_t min_occ) const;
    /// The same for sizes that a rule takes, each from the least `min_occ` of these rules.
    pvalue_spectrum make_spectrum(std::span<const pattern_rule> rules) const;

    std::string to_bytes() const;
    /// @throws invalid_argument for bytes that `to_bytes` did not write.
    static maxima_tally from_bytes(std::string_view bytes);

    friend bool operator==(const maxima_tally&, const maxima_tally&) = default;

private:
    /// (maximum, surrogates that have it), ascending; surrogates with a maximum of 0 are left out.
    using cell = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

    void count(std::size_t at, std::uint32_t maximum, std::uint32_t surrogates);
    void list(std::uint32_t size, std::uint32_t min_occ, pvalue_spectrum& into) const;
    std::uint32_t sizes() const { return static_cast<std::uint32_t>(cells_.size() / durations_); }

    spectrum_kind kind_;
    std::uint32_t durations_;
    std::uint32_t surrogates_ = 0;
    std::vector<cell> cells_;  ///< rows of `durations_`, one a size
};

/// Makes surrogate number `which`: a pure function, called from many threads at once.
using surrogate_source = std::function<binned_spikes(std::uint32_t which)>;

/// The maxima of surrogates 0 to `surrogates` - 1, each mined on one thread, many at a time. With
/// ranks each takes a block of them, and the whole tally is on every rank; when one throws the
/// others wait for it until `communicator::abort`.
/// @throws invalid_argument for no surrogate; what the source and the search throw; cancelled.
maxima_tally tally_surrogates(const surrogate_source& make, std::uint32_t surrogates,
                              std::uint32_t window_bins, const spade_options& mining,
                              spectrum_kind kind, const execution& run = {});

struct signature_testing {
    double alpha = 0.05;  ///< in (0, 1]; at 1 nothing is tested and everything is significant
    correction correct = correction::benjamini_hochberg;
    /// `elephant` takes p = reached / surrogates; of consecutive counts of one size and duration
    /// tests the highest only and calls the others not significant, however small their p; and
    /// keeps untested what no surrogate reached.
    compatibility compat = compatibility::none;
};

enum class test_reason : std::uint8_t {
    tested,
    absent,        ///< no surrogate reached it; tested, but not by Elephant
    p_is_one,      ///< every surrogate reached it: not tested, not significant
    masked,        ///< Elephant only: not tested since the next higher count is
    single_entry,  ///< Elephant only: not tested since the spectrum has no other entry
    alpha_is_one,  ///< nothing is tested, everything significant
};
/// In words.
std::string_view to_string(test_reason reason);

struct assessed_signature {
    signature what{};
    std::uint64_t patterns = 0;  ///< found in the data
    std::uint32_t reached = 0;   ///< surrogates with a pattern that large, that frequent
    /// (reached + 1) / (surrogates + 1): the data count as one more surrogate, so that p is never
    /// 0 and the test is exact (Phipson and Smyth 2010, doi:10.2202/1544-6115.1585).
    double p = 1;
    double q = 1;  ///< p corrected for all tested; 1 where not tested, p if that is for absence
    bool tested = false;
    bool significant = false;
    test_reason reason = test_reason::tested;
};

struct signature_tests {
    std::vector<assessed_signature> signatures{};  ///< all found, as they were given
    /// For the reduction, which asks also for signatures that were not found: those of the
    /// spectrum whose p is above every significant one (with `elephant`: that are not tested and
    /// significant), in its order; then those found that are neither listed nor significant.
    std::vector<signature> not_significant{};
};

/// Tests every signature found that not all surrogates reached.
/// @param found  as `count_signatures` gives them, with the thresholds of the spectrum
/// @throws invalid_argument for a spectrum without surrogates or alpha outside (0, 1].
signature_tests test_signatures(std::span<const signature_count> found,
                                const pvalue_spectrum& spectrum,
                                const signature_testing& testing = {});

/// The pattern spectrum filter: the patterns whose signature is not among these. For patterns that
/// come block by block, which are many.
class pattern_filter {
public:
    pattern_filter(spectrum_kind kind, std::span<const signature> not_significant);

    std::vector<std::size_t> kept(const pattern_table& block) const;

private:
    spectrum_kind kind_;
    std::vector<signature> dropped_;  // ascending
};
/// The same for one table.
std::vector<std::size_t> filter_patterns(const pattern_table& table, spectrum_kind kind,
                                         std::span<const signature> not_significant);

struct pattern_assessment {
    pvalue_spectrum spectrum{};
    signature_tests tests{};
};

/// Surrogates, spectrum and tests; the same for any number of threads and ranks, whole on each.
/// @param mining  as the data were mined
pattern_assessment assess_patterns(std::span<const signature_count> found,
                                   const surrogate_source& make, std::uint32_t surrogates,
                                   std::uint32_t window_bins, const spade_options& mining,
                                   spectrum_kind kind, const signature_testing& testing = {},
                                   const execution& run = {});

}  // namespace spikeweave
