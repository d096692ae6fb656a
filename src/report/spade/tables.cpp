#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/spade/lines.hpp"
#include "report/spade/view.hpp"

namespace spikeweave::report {
namespace {

// Signatures of the spectrum "#" have no duration.
std::optional<duration> duration_of(const pattern_view& p, std::uint32_t bins) {
    if (p.report.spectrum == spectrum_kind::size_count) return {};
    return p.report.axes.bin * bins;
}

row signature_row(const pattern_view& p, const signature_test& test) {
    row out{{"size", std::uint64_t{test.what.size}, "number of spikes"},
            {"count", std::uint64_t{test.what.count}, "occurrences"},
            {"duration", duration_of(p, test.what.duration),
             "time from the first spike to the last; `-` with the spectrum `#`"},
            {"patterns", test.patterns, "the number of patterns that have this signature"}};
    const auto if_tested = [&](auto value) {
        return p.tested() ? std::optional(value) : std::nullopt;
    };
    out.push_back({"reached", if_tested(std::uint64_t{test.reached}),
                   "the number of surrogates in which a pattern of at least this size (with `3d#` "
                   "of exactly this duration) occurs at least this often"});
    out.push_back({"p", if_tested(test.p),
                   "(`reached` + 1) / (surrogates + 1); with `--compat` `reached` / surrogates"});
    out.push_back({"tested", test.tested, "yes or no"});
    out.push_back({"q", if_tested(test.q), "p, corrected for all signatures that were tested"});
    out.push_back({"significant", if_tested(test.significant), "yes if q is below α"});
    out.push_back(
        {"reason", p.tested() ? to_string(test.reason) : "no surrogates", "why, in words"});
    return out;
}

// All signatures in their order, as if each was tested.
std::vector<signature_test> signatures_of(const pattern_view& p) {
    if (p.tested()) return p.report.assessment->tests.signatures;
    std::vector<signature_test> out;
    for (const signature_count& found : p.report.signatures)
        out.push_back(
            {.what = {found.size, found.count, found.duration}, .patterns = found.patterns});
    return out;
}

row spectrum_row(const pattern_view& p, const spectrum_entry& entry) {
    return {{"size", std::uint64_t{entry.what.size}, "as in `signatures.tsv`"},
            {"count", std::uint64_t{entry.what.count}},
            {"duration", duration_of(p, entry.what.duration)},
            {"reached", std::uint64_t{entry.reached}},
            {"p", entry.p, "`reached` / surrogates, as published"}};
}

row funnel_row(const funnel_step& one) {
    return {{"step", one.step, "the step, in the order of execution"},
            {"before", one.left + one.removed,
             "the number of patterns before it, of those that it removed, and of those left"},
            {"removed", one.removed},
            {"left", one.left},
            {"why", one.why, "the reason for removing them"}};
}

// The tests of a pattern, and its stability. A pattern has none of what was not computed.
void add_measures(row& to, const pattern_view& p, std::optional<std::size_t> i) {
    if (p.tested()) {
        const signature_test test = i && p.tests[*i] != nullptr ? *p.tests[*i] : signature_test{};
        to.push_back({"p", test.p,
                      "only with surrogates: those of the pattern's signature; q is corrected for "
                      "all signatures tested"});
        to.push_back({"q", test.q});
        to.push_back({"significant", test.significant});
    }
    if (!p.report.stabilities.empty()) {
        const stability stable = i ? p.report.stabilities[*i] : stability{};
        to.push_back({"stability_intensional", stable.intensional, "only with `--stability`"});
        to.push_back({"stability_extensional", stable.extensional});
    }
    if (!p.report.replication) return;
    const pattern_replication* const other = i ? p.replicated(*i) : nullptr;
    const auto known = [&](auto value) {
        return other != nullptr ? std::optional(value) : std::nullopt;
    };
    const pattern_replication found = other != nullptr ? *other : pattern_replication{};
    to.push_back({"replication_count", known(std::uint64_t{found.count}),
                  "only with `--hold-out` and `--confirm`: the pattern in the time held out, or in "
                  "the other recording; the expected count is the mean over the surrogates; `-` if "
                  "a unit is missing there"});
    to.push_back({"replication_expected", known(found.expected)});
    to.push_back({"replication_p", known(found.p)});
    to.push_back({"replication_q", known(found.q)});
}

// A row; without an index one with the same columns.
row pattern_row(const pattern_view& p, std::optional<std::size_t> i) {
    const pattern_table& table = p.report.table;
    joined_list<unit_id> units{{}, ","};
    joined_list<duration> lags{{}, ","};
    if (i)
        for (const pattern_item item : table.pattern(*i)) {
            units.items.push_back(unit_id{item / table.window_bins});
            lags.items.push_back(p.lag(item));
        }
    row out{
        {"pattern", i ? p.number[*i] : 0, "the number of the pattern"},
        {"size", std::uint64_t{units.items.size()}, "number of spikes"},
        {"units", std::move(units), "the unit of each spike, in time order, joined by commas"},
        {"lags_ms", std::move(lags), "the time of each spike after the first one, whose lag is 0"},
        {"count", std::uint64_t{i ? table.counts[*i] : 0},
         "number of windows that hold the pattern"},
        {"duration", std::optional(p.report.axes.bin * (i ? table.duration(*i) : 0)),
         "time from the first spike to the last"}};
    add_measures(out, p, i);
    return out;
}

// The times in seconds, or the windows, in which a pattern occurs.
column starts_of(const pattern_view& p, std::optional<std::size_t> i) {
    const bool timed = p.report.axes.timed;
    joined_list<double> starts{{}, ","};
    if (i)
        for (const std::uint32_t start : p.report.table.occurrences_of(*i))
            starts.items.push_back(timed ? to_seconds(p.report.axes.time_of(start)) : start);
    return {timed ? "times_s" : "windows", std::move(starts),
            timed ? "when the pattern occurs: the left edges of the first bins of its windows, in "
                    "seconds of the original recording, even if epochs were joined; with "
                    "`--transactions` the column is `windows`, their numbers from 0"
                  : ""};
}

}  // namespace

std::string patterns_heading(const pattern_view& p, bool with_occurrences) {
    row names = pattern_row(p, {});
    if (with_occurrences) names.push_back(starts_of(p, {}));
    return tsv_heading(names) + '\n';
}

void write_patterns(const pattern_view& p, const std::function<void(std::string_view)>& write,
                    const execution& run) {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    const pattern_report& report = p.report;
    pattern_lines lines(report.axes, {.tests = p.tested(),
                                      .stability = !report.stabilities.empty(),
                                      .replication = report.replication.has_value(),
                                      .occurrences = true});
    write(patterns_heading(p, true));
    for (const std::size_t i : p.order) {
        lines.append(p.number[i], report.table, i, p.tests[i],
                     report.stabilities.empty() ? nullptr : &report.stabilities[i],
                     p.replicated(i));
        if (lines.text().size() < piece) continue;
        core::throw_if_stopped(run.stop);
        write(lines.text());
        lines.clear();
    }
    write(lines.text());
}

result_table patterns_table(const pattern_view& p) {
    return {.name = "patterns",
            .size = p.order.size(),
            .at = [&p](std::size_t i) { return pattern_row(p, p.listed(i)); },
            .names = pattern_row(p, {}),
            .use = table_use::document_only,  // its file has the occurrences, too
            .total = p.report.patterns};
}

result_table occurrences_table(const pattern_view& p) {
    const auto row_at = [&p](std::optional<std::size_t> i) {
        joined_list<std::uint64_t> bins{{}, ","};
        if (i) {
            const auto starts = p.report.table.occurrences_of(*i);
            bins.items.assign(starts.begin(), starts.end());
        }
        row out{{"pattern", i ? p.number[*i] : 0}, {"bins", std::move(bins)}};
        if (p.report.axes.timed) out.push_back(starts_of(p, i));
        return out;
    };
    return {.name = "occurrences",
            .size = p.order.size(),
            .at = [&p, row_at](std::size_t i) { return row_at(p.listed(i)); },
            .names = row_at({}),
            .use = table_use::document_only};
}

json patterns_json(const pattern_view& p) {
    json out = json::array();
    for (const std::size_t i : p.order) {
        row one = pattern_row(p, i);
        one.push_back(starts_of(p, i));
        out.push_back(json_of(one, p.report.axes.unit_names));
    }
    return out;
}

result_table signatures_table(const pattern_view& p) {
    auto all = std::make_shared<std::vector<signature_test>>(signatures_of(p));
    return {.name = "signatures",
            .size = all->size(),
            .at = [&p, all](std::size_t i) { return signature_row(p, (*all)[i]); },
            .names = signature_row(p, {}),
            .use = table_use::file_only};
}

result_table numbered_signatures_table(const pattern_view& p) {
    auto all = std::make_shared<std::vector<signature_test>>(signatures_of(p));
    std::vector<std::size_t> order(all->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_partition(order.begin(), order.end(),
                          [&](std::size_t i) { return (*all)[i].significant; });
    const auto numbered = [&p](std::size_t number, const signature_test& test) {
        row out = signature_row(p, test);
        out.insert(out.begin(), {"signature", std::uint64_t{number}});
        return out;
    };
    return {.name = "signatures",
            .size = all->size(),
            .at = [=](std::size_t i) { return numbered(order[i] + 1, (*all)[order[i]]); },
            .names = numbered(0, {}),
            .use = table_use::document_only};
}

result_table spectrum_table(const pattern_view& p, table_use use) {
    const auto& entries = p.report.assessment->spectrum.entries;
    return {.name = use == table_use::file_only ? "spectrum" : "spectrum_entries",
            .size = entries.size(),
            .at = [&p, &entries](std::size_t i) { return spectrum_row(p, entries[i]); },
            .names = spectrum_row(p, {}),
            .use = use};
}

result_table funnel_table(const pattern_view& p) {
    const auto& steps = p.report.funnel;
    return {"funnel", steps.size(), [&steps](std::size_t i) { return funnel_row(steps[i]); },
            funnel_row({})};
}

}  // namespace spikeweave::report
