#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "report/described_tables.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/assemblies.hpp"

namespace spikeweave {
namespace {

std::string spikes_text(const spike_sequence& from, const assembly& one) {
    std::vector<std::pair<duration, std::string_view>> spikes;
    for (std::size_t i = 0; i < one.units.size(); ++i)
        spikes.emplace_back(one.bin * one.lags[i], from.name(one.units[i]));
    return report::pattern_text(std::move(spikes));
}

// A browser draws more of them slowly.
constexpr std::size_t most_activations_of_a_page = 200'000;

// A row; without a number one with the same columns.
report::row assembly_row(const assembly_report& from, std::optional<std::size_t> i) {
    const assembly none{.p = {1}, .counts = {0}};
    const assembly& one = i ? from.found.assemblies[*i] : none;
    report::joined_list<duration> lags{{}, " "};
    for (const std::int32_t lag : one.lags) lags.items.push_back(one.bin * lag);
    return {{"assembly", std::uint64_t{i.value_or(0) + 1}, "the number of the assembly, from 1"},
            {"size", std::uint64_t{one.units.size()}, "number of units"},
            {"units", report::joined_list<unit_id>{one.units, "+"},
             "the units in the order in which they were joined, with + between them"},
            {"lags_ms", std::move(lags),
             "the lag of each unit after the first one, a multiple of the bin width"},
            {"bin", std::optional(one.bin), "the bin width"},
            {"count", std::uint64_t{one.counts.back()}, "activations"},
            {"p", one.p.back(), "the p of joining the last unit"},
            {"p_corrected", one.p_corrected, "the same, for the number of tests of that step"},
            {"count_by_size",
             report::joined_list<std::uint64_t>{{one.counts.begin(), one.counts.end()}, " "},
             "count and p of the first two units, of the first three, and so on"},
            {"p_by_size", report::joined_list<double>{one.p, " "}}};
}

report::row activation_row(std::size_t assembly, const assembly_activation& active) {
    return {{"assembly", std::uint64_t{assembly + 1}, "the number of the assembly, from 1"},
            {"begin_s", report::exact_time{active.begin}, "where the bin of its first unit begins"},
            {"count", std::uint64_t{active.count}, "how often the assembly is active there"}};
}

report::row step_row(const assembly_step& step) {
    return {{"bin", std::optional(step.bin), "the bin width"},
            {"size", std::uint64_t{step.size}, "number of units"},
            {"tests", std::uint64_t{step.tests},
             "tests of a smaller assembly and a unit, without tests that were impossible because "
             "the pairs are expected too rarely or almost always"},
            {"significant", std::uint64_t{step.significant}, "significant ones"},
            {"kept", std::uint64_t{step.kept}, "the different sets of units among these"}};
}

report::result_table assemblies_table(const assembly_report& from) {
    return {"assemblies", from.found.assemblies.size(),
            [&](std::size_t i) { return assembly_row(from, i); }, assembly_row(from, {})};
}

report::result_table activations_table(const assembly_report& from) {
    std::vector<std::pair<std::size_t, const assembly_activation*>> all;
    for (std::size_t i = 0; i < from.found.assemblies.size(); ++i)
        for (const assembly_activation& one : from.found.assemblies[i].activations)
            all.emplace_back(i, &one);
    return {.name = "activations",
            .size = all.size(),
            .at = [all](std::size_t k) { return activation_row(all[k].first, *all[k].second); },
            .names = activation_row(0, {})};
}

report::result_table search_table(const assembly_report& from) {
    return {"search", from.found.steps.size(),
            [&](std::size_t i) { return step_row(from.found.steps[i]); }, step_row({})};
}

// For each assembly the number of bins in which it is active, and where those of its first unit
// begin, in microseconds. @param most  as many of these have a place in a page
report::json activations_json(const assembly_report& from, std::size_t most) {
    report::json out{{"number", report::json::array()}, {"begins_us", report::json::array()}};
    for (const assembly& one : from.found.assemblies) {
        report::json begins = report::json::array();
        for (const assembly_activation& active : one.activations) {
            if (most == 0) break;
            --most;
            begins.push_back(active.begin.count());
        }
        out["number"].push_back(one.activations.size());
        out["begins_us"].push_back(std::move(begins));
    }
    return out;
}

report::json run_of(const assembly_report& from) {
    report::json out =
        report::run_json(from.run, verdict_of(from), report::contents_of(from.spikes));
    out.erase("seed");  // nothing is drawn
    out["assemblies"] = {{"assemblies", from.found.assemblies.size()}};
    return out;
}

report::document document_from(const assembly_report& from) {
    return {.kind = "assemblies",
            .run = run_of(from),
            .unit_names = from.spikes.unit_names(),
            .values = {{"spikes", report::page_spikes(from.spikes)},
                       {"active", activations_json(from, most_activations_of_a_page)}},
            .tables = report::tables_of(from)};
}

// The assemblies, each with its activations.
report::json assemblies_json(const assembly_report& from) {
    report::json out = report::rows_of(assemblies_table(from), from.spikes.unit_names());
    for (std::size_t i = 0; i < out.size(); ++i) {
        report::json& activations = out[i]["activations"] = report::json::array();
        for (const assembly_activation& active : from.found.assemblies[i].activations)
            activations.push_back({{"begin_s", to_seconds(active.begin)}, {"count", active.count}});
    }
    return out;
}

}  // namespace

std::vector<report::result_table> report::tables_of(const assembly_report& from) {
    return {assemblies_table(from), activations_table(from), search_table(from)};
}

assembly_report report_of(spike_sequence spikes, assembly_result result, const execution& run) {
    assembly_report out{.spikes = std::move(result.chosen ? *result.chosen : spikes),
                        .found = std::move(result.found)};
    report::record_result(out.run, result, describe(result.options), 0, run,
                          result.options.run.threads);
    return out;
}

std::string verdict_of(const assembly_report& report) {
    const auto& all = report.found.assemblies;
    std::string text =
        all.empty() ? "No assembly" : report::plural(all.size(), "assembly", "assemblies");
    if (!all.empty()) {
        const auto units = [](const assembly& one) { return one.units.size(); };
        const auto [fewest, most] = std::ranges::minmax_element(all, {}, units);
        const auto [finest, widest] = std::ranges::minmax_element(all, {}, &assembly::bin);
        text += fmt::format(" of {} units, in bins of {}",
                            report::range_text(units(*fewest), units(*most)),
                            format_duration(finest->bin));
        if (widest->bin > finest->bin) text += fmt::format(" to {}", format_duration(widest->bin));
    }
    text += fmt::format("{} among {} in {}.", all.empty() ? "" : ",",
                        report::plural(report.spikes.unit_count(), "unit", "units"),
                        report::time_text(report.spikes.observed_time()));
    return report::with_warnings(text, report.run.warnings.size());
}

void write_report(const std::filesystem::path& folder, const assembly_report& report,
                  bool overwrite, const execution& run) {
    report::write_folder(folder, result_kind::assemblies, document_from(report), report.with_page,
                         overwrite, run);
}

std::string document_of(const assembly_report& report, const execution& run) {
    return report::whole_text(document_from(report), run);
}

std::string to_json(const assembly_report& report) {
    return report::text_of({{"run", run_of(report)},
                            {"assemblies", assemblies_json(report)},
                            {"search", report::rows_of(search_table(report))}});
}

std::string summarize(const assembly_report& from) {
    constexpr std::size_t most_rows = 20;
    const auto& all = from.found.assemblies;
    std::string out = verdict_of(from) + "\n";
    if (all.empty()) return out;
    out += "units     bin    count  corrected p  assembly\n";
    for (std::size_t i = 0; i < std::min(most_rows, all.size()); ++i) {
        const assembly& one = all[i];
        fmt::format_to(std::back_inserter(out), "{:>5} {:>7} {:>8} {:>12}  {}\n", one.units.size(),
                       format_duration(one.bin), core::grouped(one.counts.back()),
                       report::p_text(one.p_corrected), spikes_text(from.spikes, one));
    }
    if (all.size() > most_rows)
        out +=
            fmt::format("… and {} more in assemblies.tsv\n", core::grouped(all.size() - most_rows));
    return out;
}

}  // namespace spikeweave
