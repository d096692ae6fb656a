#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.hpp"
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
    /// The pattern of a line of documents: in the order of `patterns.tsv`.
    std::size_t listed(std::size_t line) const { return streamed() ? line : order[line]; }
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

std::string verdict_of(const pattern_view& p);

/// The first line of `patterns.tsv`.
std::string patterns_heading(const pattern_view& p, bool with_occurrences);
/// Passes on `patterns.tsv` in pieces.
void write_patterns(const pattern_view& p, const std::function<void(std::string_view)>& write,
                    const execution& run);
/// The tables of the result. What they are of has to outlive them.
result_table patterns_table(const pattern_view& p);
result_table occurrences_table(const pattern_view& p);
/// The signatures as their file lists them.
result_table signatures_table(const pattern_view& p);
/// The same by their numbers in that file, the significant ones first, because there may be more
/// than a page lists.
result_table numbered_signatures_table(const pattern_view& p);
/// The spectrum of surrogates, which must have been tested.
result_table spectrum_table(const pattern_view& p, table_use use);
result_table funnel_table(const pattern_view& p);
/// The patterns with their occurrences, as `--json` has them.
json patterns_json(const pattern_view& p);
/// The content of `run.json`.
json run_of(const pattern_view& p);
document document_of(const pattern_view& p);
/// @throws io_error, always in a build without HDF5.
void write_pattern_nwb(const std::filesystem::path& path, const pattern_view& p);

}  // namespace spikeweave::report
