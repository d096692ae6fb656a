#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text.hpp"
#include "spikeweave/report/spade.hpp"

namespace spikeweave::report {

/// A report with the data that all its parts share, computed once.
struct pattern_view {
    /// @throws invalid_argument if the parts do not belong together.
    explicit pattern_view(const pattern_report& what);

    const pattern_report& report;
    /// Indices into the table in the order in which patterns are listed: by p, then by falling
    /// spikes and occurrences.
    std::vector<std::size_t> order;
    /// The line of each pattern of the table in `patterns.tsv`, from 1.
    std::vector<std::uint64_t> number;
    /// The test of each pattern's signature; null if there is none.
    std::vector<const signature_test*> tests;

    bool tested() const { return report.assessment.has_value(); }
    /// The test of a pattern in other spikes; null if there is none.
    const pattern_replication* replicated(std::size_t i) const {
        if (!report.replication || !report.replication->tests[i]) return nullptr;
        return &*report.replication->tests[i];
    }
    bool streamed() const { return !report.numbers.empty(); }
    const std::string& name(pattern_item item) const {
        return report.axes.unit_names[item / report.axes.window_bins];
    }
    duration lag(pattern_item item) const {
        return report.axes.bin * (item % report.axes.window_bins);
    }
    /// Formats a pattern as "n12 →5 ms→ n7 + n3"; spikes in one bin are joined by a plus.
    std::string chain(std::size_t pattern) const;
    /// Formats p; with `compat` it is 0 if no surrogate reached the signature: "0 (none of 100
    /// surrogates)".
    std::string p_words(double p) const;
    /// Returns a text like "tested against 1,000 surrogates (alpha 0.01, fdr_bh)".
    std::string how_tested() const;
};

/// Passes on `patterns.tsv` in pieces.
void write_patterns(const pattern_view& p, const std::function<void(std::string_view)>& write,
                    const execution& run);
std::string signatures_tsv(const pattern_view& p);
std::string spectrum_tsv(const pattern_view& p);
std::string funnel_tsv(const pattern_view& p);
std::string patterns_svg(const pattern_view& p);
std::string spectrum_svg(const pattern_view& p);
std::string pattern_run_json(const pattern_view& p);
/// @throws io_error, always in a build without HDF5.
void write_pattern_nwb(const std::filesystem::path& path, const pattern_view& p);

}  // namespace spikeweave::report
