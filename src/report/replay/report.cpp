#include "spikeweave/report/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "report/described_tables.hpp"
#include "report/document.hpp"
#include "report/episodes/view.hpp"
#include "report/page_spikes.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"

namespace spikeweave {
namespace {

// A row; without a test one with the same columns.
report::row test_row(const replay_report& from, const replay_test* given) {
    const replay_test test = given != nullptr ? *given : replay_test{};
    const episode chain = given != nullptr ? from.chains[test.chain] : episode{};
    report::row out{{"chain", std::uint64_t{test.chain + 1}, "the number of the chain, from 1"},
                    {"units", report::joined_list<unit_id>{chain.units, "→"},
                     "its units and delays, as in `episodes.tsv`"},
                    {"delays", chain.delays}};
    for (report::column& each : report::described_row(test)) {
        if (each.name == "chain") continue;
        if (each.name == "events_scored")
            out.push_back({"significant", test.q < from.alpha, "yes if q is below α"});
        out.push_back(std::move(each));
    }
    return out;
}

report::row event_row(const replay_report& from, const replay_event* given) {
    const replay_event scored = given != nullptr ? *given : replay_event{};
    const time_span event = given != nullptr ? from.events[scored.event] : time_span{};
    report::row out{{"event", std::uint64_t{scored.event + 1}, "the number of the event, from 1"},
                    {"begin_s", report::exact_time{event.begin}, "where it begins and ends"},
                    {"end_s", report::exact_time{event.end}},
                    {"chain", std::uint64_t{scored.chain + 1}, "the number of the chain, from 1"}};
    for (report::column& each : report::described_row(scored))
        if (each.name != "event" && each.name != "chain") out.push_back(std::move(each));
    return out;
}

// The table `replay.tsv`.
report::result_table tests_table(const replay_report& from) {
    const auto& tests = from.scores.tests;
    return {"replay", tests.size(), [&](std::size_t i) { return test_row(from, &tests[i]); },
            test_row(from, nullptr)};
}

report::result_table events_table(const replay_report& from) {
    const auto& events = from.scores.events;
    return {"events", events.size(), [&](std::size_t i) { return event_row(from, &events[i]); },
            event_row(from, nullptr)};
}

report::json run_of(const replay_report& from) {
    report::json out =
        report::run_json(from.run, verdict_of(from), report::contents_of(from.spikes));
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

report::document document_from(const replay_report& from) {
    return {.kind = "replay",
            .run = run_of(from),
            .unit_names = from.spikes.unit_names(),
            .values = {{"spikes", report::page_spikes(from.spikes)}},
            .tables = report::tables_of(from)};
}

}  // namespace

std::vector<report::result_table> report::tables_of(const replay_report& from) {
    return {tests_table(from), events_table(from)};
}

replay_report report_of(spike_sequence spikes, std::vector<episode> chains, replay_result result,
                        const execution& run) {
    replay_report out{.spikes = std::move(result.chosen ? *result.chosen : spikes),
                      .chains = std::move(chains),
                      .events = std::move(result.events),
                      .scores = std::move(result.scores),
                      .alpha = result.options.test.alpha};
    report::record_result(out.run, result, describe(result.options),
                          result.options.test.surrogates.seed, run, result.options.run.threads);
    return out;
}

std::string verdict_of(const replay_report& report) {
    std::array<std::set<std::size_t>, 2> replayed;
    for (const replay_test& one : report.scores.tests)
        if (one.q < report.alpha)
            replayed.at(static_cast<std::size_t>(one.direction)).insert(one.chain);
    return report::with_warnings(
        fmt::format("{} of {} replayed forward, {} in reverse; {} in {}, {}.",
                    core::grouped(replayed[0].size()),
                    report::plural(report.chains.size(), "chain", "chains"),
                    core::grouped(replayed[1].size()),
                    report::plural(report.events.size(), "event", "events"),
                    report::time_text(report.spikes.observed_time()),
                    report::level_text(correction_method::benjamini_hochberg, report.alpha)),
        report.run.warnings.size());
}

void write_report(const std::filesystem::path& folder, const replay_report& report, bool overwrite,
                  const execution& run) {
    report::write_folder(folder, result_kind::replay, document_from(report), report.with_page,
                         overwrite, run);
}

std::string document_of(const replay_report& report, const execution& run) {
    return report::whole_text(document_from(report), run);
}

std::string to_json(const replay_report& report) {
    const std::vector<std::string>& names = report.spikes.unit_names();
    return report::text_of({{"run", run_of(report)},
                            {"chains", chains_of(report)},
                            {"tests", report::rows_of(tests_table(report), names)},
                            {"events", report::rows_of(events_table(report), names)}});
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
    std::string out = verdict_of(from) + "\n";
    out +=
        "direction    scale    count  expected          q   in order  expected          q  chain\n";
    for (std::size_t i = 0; i < std::min(most_rows, order.size()); ++i) {
        const replay_test& test = tests[order[i]];
        fmt::format_to(std::back_inserter(out),
                       "{:<9} {:>8} {:>8} {:>9} {:>10} {:>4} of {:<4} {:>7} {:>10}  {}\n",
                       to_string(test.direction), report::shown_number(test.scale),
                       core::grouped(test.count), report::shown_number(test.expected),
                       report::p_text(test.q), test.significant, test.scored,
                       report::shown_number(test.expected_significant),
                       report::p_text(test.events_q),
                       report::units_text(from.spikes.unit_names(), from.chains[test.chain]));
    }
    if (order.size() > most_rows)
        out +=
            fmt::format("… and {} more in replay.tsv\n", core::grouped(order.size() - most_rows));
    return out;
}

}  // namespace spikeweave
