#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/text.hpp"
#include "report/spade/view.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

void check(const pattern_report& what) {
    const pattern_table& table = what.table;
    const std::size_t n = table.size();
    if (table.window_bins != what.axes.window_bins || table.item_offsets.size() != n + 1)
        throw invalid_argument("the report's patterns are not of its windows");
    if (table.occurrence_offsets.size() != n + 1)
        throw invalid_argument(fmt::format("the report has {} patterns and the occurrences of {}",
                                           n, table.occurrence_offsets.size() - 1));
    if ((!what.stabilities.empty() && what.stabilities.size() != n) ||
        (!what.numbers.empty() && what.numbers.size() != n) || what.patterns < n)
        throw invalid_argument(
            fmt::format("the report has {} patterns of {}, {} numbers and {} stabilities", n,
                        what.patterns, what.numbers.size(), what.stabilities.size()));
    if (what.replication && what.replication->tests.size() != n)
        throw invalid_argument(fmt::format("the report has {} patterns, and {} in other spikes", n,
                                           what.replication->tests.size()));
    const std::uint64_t items = what.axes.unit_names.size() * what.axes.window_bins;
    if (!std::ranges::all_of(table.items, [&](pattern_item item) { return item < items; }))
        throw invalid_argument("the report's patterns are not of its units");
}

}  // namespace

pattern_view::pattern_view(const pattern_report& what) : report(what) {
    check(what);
    const pattern_table& table = what.table;
    if (what.assessment)
        tests = tests_of_patterns(table, what.spectrum, what.assessment->tests.signatures);
    else
        tests.resize(table.size());
    order.resize(table.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto rank = [&](std::size_t i) {
        return std::tuple(tests[i] == nullptr ? 0.0 : tests[i]->p,
                          -static_cast<std::int64_t>(table.pattern(i).size()),
                          -static_cast<std::int64_t>(table.counts[i]), i);
    };
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
    number = what.numbers;
    if (streamed()) return;
    number.resize(order.size());
    for (std::size_t k = 0; k < order.size(); ++k) number[order[k]] = k + 1;
}

std::string pattern_view::chain(std::size_t pattern) const {
    std::vector<std::pair<duration, std::string_view>> spikes;
    for (const pattern_item item : report.table.pattern(pattern))
        spikes.emplace_back(lag(item), name(item));
    return pattern_text(std::move(spikes));
}

std::string pattern_view::p_words(double p) const {
    if (p > 0) return p_text(p);
    return fmt::format("0 (none of {})",
                       plural(report.assessment->spectrum.surrogates, "surrogate", "surrogates"));
}

std::string pattern_view::how_tested() const {
    if (!tested()) return "not tested: no surrogates";
    return fmt::format("tested against {} surrogates (alpha {}, {})",
                       core::grouped(report.assessment->spectrum.surrogates), report.testing.alpha,
                       to_string(report.testing.correction));
}

}  // namespace spikeweave::report
