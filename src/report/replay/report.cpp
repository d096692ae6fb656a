#include "spikeweave/report/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/grouped.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/parts.hpp"
#include "report/page_spikes.hpp"
#include "report/recorded_part.hpp"
#include "report/replay/page_data.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/page.hpp"

namespace spikeweave {
namespace {

using report::number_text;
using report::yes_no;

std::string replay_tsv(const replay_report& from) {
    std::string out =
        "chain\tunits\tdelays\tdirection\tscale\tcount\texpected\tz\tp\tq\tsignificant\t"
        "events_scored\tevents_significant\tevents_expected\tevents_p\tevents_q\n";
    for (const replay_test& test : from.scores.tests) {
        const episode& chain = from.chains[test.chain];
        fmt::format_to(std::back_inserter(out),
                       "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
                       test.chain + 1, report::units_text(from.spikes.unit_names(), chain),
                       report::delays_text(chain), to_string(test.direction),
                       number_text(test.scale), test.count, number_text(test.expected),
                       number_text(test.z), number_text(test.p), number_text(test.q),
                       yes_no(test.q < from.alpha), test.scored, test.significant,
                       number_text(test.expected_significant), number_text(test.events_p),
                       number_text(test.events_q));
    }
    return out;
}

std::string events_tsv(const replay_report& from) {
    std::string out = "event\tbegin_s\tend_s\tchain\tactive\ttau\tp_forward\tp_reverse\n";
    for (const replay_event& one : from.scores.events) {
        const time_span& event = from.events[one.event];
        fmt::format_to(std::back_inserter(out), "{}\t{:.6f}\t{:.6f}\t{}\t{}\t{}\t{}\t{}\n",
                       one.event + 1, to_seconds(event.begin), to_seconds(event.end), one.chain + 1,
                       one.active, number_text(one.tau), number_text(one.p_forward),
                       number_text(one.p_reverse));
    }
    return out;
}

report::json run_of(const replay_report& from) {
    report::json out = report::run_json(from.run, report::contents_of(from.spikes));
    out["replay"] = {{"chains", from.chains.size()},
                     {"events", from.events.size()},
                     {"events_s", report::spans_json(from.events)}};
    return out;
}

report::json chains_of(const replay_report& from) {
    report::json out = report::json::array();
    for (const episode& chain : from.chains)
        out.push_back({{"chain", out.size() + 1},
                       {"units", report::names_json(from.spikes.unit_names(), chain.units)},
                       {"delays_ms", report::ms(chain.delays)}});
    return out;
}

report::json tests_of(const replay_report& from) {
    report::json out = report::json::array();
    for (const replay_test& test : from.scores.tests) {
        report::json one = report::json_of(test);
        one["chain"] = test.chain + 1;
        one["direction"] = to_string(test.direction);
        one["significant"] = test.q < from.alpha;
        out.push_back(std::move(one));
    }
    return out;
}

report::json events_of(const replay_report& from) {
    report::json out = report::json::array();
    for (const replay_event& scored : from.scores.events) {
        const time_span& event = from.events[scored.event];
        report::json one = report::json_of(scored);
        one["event"] = scored.event + 1;
        one["begin_s"] = to_seconds(event.begin);
        one["end_s"] = to_seconds(event.end);
        one["chain"] = scored.chain + 1;
        out.push_back(std::move(one));
    }
    return out;
}

}  // namespace

replay_report report_of(spike_sequence spikes, std::vector<episode> chains, replay_result result,
                        const execution& run) {
    replay_report out{.spikes = std::move(result.part ? *result.part : spikes),
                      .chains = std::move(chains),
                      .events = std::move(result.events),
                      .scores = std::move(result.scores),
                      .alpha = result.options.test.alpha};
    execution used = run;
    used.threads = result.options.run.threads;
    record_run(out.run, describe(result.options), result.options.test.surrogates.seed, used, {});
    out.run.warnings = std::move(result.warnings);
    out.run.seconds = result.seconds;
    return out;
}

void write_replay_report(const std::filesystem::path& folder, const replay_report& report,
                         bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::replay));
    out.write("replay.tsv", replay_tsv(report));
    out.write("events.tsv", events_tsv(report));
    out.write("run.json", report::text_of(run_of(report)));
    if (report.with_page && report.spikes.size() <= report::most_spikes_of_a_page)
        out.write("report.html",
                  page_of(report::replay_page_data(out.file(""), report.spikes, run)));
    out.commit(run.stop);
}

std::string to_json(const replay_report& report) {
    return report::text_of({{"run", run_of(report)},
                            {"chains", chains_of(report)},
                            {"tests", tests_of(report)},
                            {"events", events_of(report)}});
}

std::string summarize(const replay_report& from) {
    constexpr std::size_t most_rows = 20;
    const auto& tests = from.scores.tests;
    std::vector<std::size_t> order(tests.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto best = [&](std::size_t i) {
        return std::tuple(std::min(tests[i].q, tests[i].events_q), tests[i].p);
    };
    std::ranges::stable_sort(order, {}, best);
    std::string out =
        fmt::format("{} in {} of {:.6g} s\n", report::plural(from.chains.size(), "chain", "chains"),
                    report::plural(from.events.size(), "event", "events"),
                    to_seconds(from.spikes.observed_time()));
    out +=
        "direction    scale    count  expected         q   in order  expected         q  chain\n";
    for (std::size_t i = 0; i < std::min(most_rows, order.size()); ++i) {
        const replay_test& test = tests[order[i]];
        fmt::format_to(std::back_inserter(out),
                       "{:<9} {:>8} {:>8} {:>9.4g} {:>9} {:>4} of {:<4} {:>7.4g} {:>9}  {}\n",
                       to_string(test.direction), number_text(test.scale),
                       core::grouped(test.count), test.expected, report::p_text(test.q),
                       test.significant, test.scored, test.expected_significant,
                       report::p_text(test.events_q),
                       report::units_text(from.spikes.unit_names(), from.chains[test.chain]));
    }
    if (order.size() > most_rows)
        out +=
            fmt::format("… and {} more in replay.tsv\n", core::grouped(order.size() - most_rows));
    return out;
}

}  // namespace spikeweave
