#include <fmt/format.h>

#include <iterator>

#include "core/stop.hpp"
#include "report/spade/lines.hpp"
#include "report/spade/parts.hpp"

namespace spikeweave::report {
namespace {

// Signatures of the spectrum "#" have no duration.
std::string duration_text(const pattern_view& p, std::uint32_t bins) {
    return p.report.spectrum == spectrum_kind::size_count ? "-"
                                                          : milliseconds(p.report.axes.bin * bins);
}

}  // namespace

void write_patterns(const pattern_view& p, const std::function<void(std::string_view)>& write,
                    const execution& run) {
    constexpr std::size_t piece = std::size_t{1} << 20U;
    const pattern_report& report = p.report;
    pattern_lines lines(report.axes, {.tests = p.tested(),
                                      .stability = !report.stabilities.empty(),
                                      .replication = report.replication.has_value(),
                                      .occurrences = true});
    write(lines.header());
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

std::string signatures_tsv(const pattern_view& p) {
    std::string out =
        "size\tcount\tduration_ms\tpatterns\treached\tp\ttested\tq\tsignificant\treason\n";
    if (!p.tested()) {
        for (const signature_count& found : p.report.signatures)
            fmt::format_to(std::back_inserter(out),
                           "{}\t{}\t{}\t{}\t-\t-\tno\t-\t-\tno surrogates\n", found.size,
                           found.count, duration_text(p, found.duration), found.patterns);
        return out;
    }
    for (const signature_test& test : p.report.assessment->tests.signatures)
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       test.what.size, test.what.count, duration_text(p, test.what.duration),
                       test.patterns, test.reached, number_text(test.p), yes_no(test.tested),
                       number_text(test.q), yes_no(test.significant), to_string(test.reason));
    return out;
}

std::string spectrum_tsv(const pattern_view& p) {
    std::string out = "size\tcount\tduration_ms\treached\tp\n";
    if (!p.tested()) return out;
    for (const spectrum_entry& entry : p.report.assessment->spectrum.entries)
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\n", entry.what.size,
                       entry.what.count, duration_text(p, entry.what.duration), entry.reached,
                       number_text(entry.p));
    return out;
}

std::string funnel_tsv(const pattern_view& p) {
    std::string out = "step\tbefore\tremoved\tleft\twhy\n";
    for (const funnel_step& step : p.report.funnel)
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\n", step.step,
                       step.left + step.removed, step.removed, step.left, step.why);
    return out;
}

}  // namespace spikeweave::report
