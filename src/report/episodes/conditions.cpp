#include "spikeweave/report/episodes/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/grouped.hpp"
#include "io/result_folder.hpp"
#include "report/episodes/difference_circuit.hpp"
#include "report/episodes/parts.hpp"
#include "report/run_json.hpp"

namespace spikeweave {
namespace report {
namespace {

constexpr std::array<std::string_view, 4> comparison_files{"differences.tsv", "differences.graphml",
                                                           "differences.svg", "run.json"};

std::string differences_tsv(const condition_comparison& result) {
    std::string out =
        "finding\tsize\tunits\tdelays\tchange\tdirection\tfound_a\tfound_b\tcount_a\tcount_b"
        "\texpected_a\texpected_b\tfirst_spikes_a\tfirst_spikes_b\trate_a_hz\trate_b_hz"
        "\trate_ratio\trate_ratio_low\trate_ratio_high\trate_p\trate_q\texcess_a\texcess_b"
        "\texcess_difference\texcess_difference_low\texcess_difference_high\texcess_p\texcess_q\n";
    std::size_t number = 0;
    for (const episode_change& one : result.findings) {
        fmt::format_to(std::back_inserter(out), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}", ++number,
                       one.what.size(), units_text(result.unit_names, one.what),
                       delays_text(one.what), to_string(one.change), direction_of(one),
                       one.found[0], one.found[1], one.counts[0], one.counts[1]);
        out += '\t' + number_text(one.expected[0]) + '\t' + number_text(one.expected[1]);
        out += fmt::format("\t{}\t{}", one.first_spikes[0], one.first_spikes[1]);
        for (const double value :
             {one.rate.a, one.rate.b, one.rate.ratio.value, one.rate.ratio.low, one.rate.ratio.high,
              one.rate.p, one.rate_q, one.excess.a, one.excess.b, one.excess.difference.value,
              one.excess.difference.low, one.excess.difference.high, one.excess.p, one.excess_q})
            out += '\t' + known_number(value);
        out += '\n';
    }
    return out;
}

json condition_json(const condition_summary& of, std::span<const input_record> inputs) {
    json files = json::array();
    for (const input_record& one : inputs) files.push_back(file_json(one));
    return {{"files", files},
            {"recordings", of.recordings},
            {"samples", of.samples},
            {"observed_s", to_seconds(of.observed)},
            {"spikes", of.spikes}};
}

json comparison_json(const condition_report& report) {
    const condition_comparison& result = report.result;
    json out = run_json(report.run, json::object());
    out["input"] = {{"a", condition_json(result.conditions[0], report.inputs[0])},
                    {"b", condition_json(result.conditions[1], report.inputs[1])},
                    {"units", result.unit_names.size()},
                    {"warnings", report.run.warnings}};
    out["comparison"] = {{"samples", to_string(result.samples)},
                         {"labellings", result.labellings.number},
                         {"all_labellings", result.labellings.exact},
                         {"smallest_p", result.labellings.smallest_p},
                         {"findings", result.findings.size()}};
    return out;
}

std::string side_text(char name, const condition_summary& of, sample_kind kind) {
    return fmt::format("{}: {} {} of {:.6g} s, {} spikes\n", name, core::grouped(of.samples),
                       to_string(kind), to_seconds(of.observed), core::grouped(of.spikes));
}

std::string interval_words(const interval_estimate& of) {
    if (known_number(of.value) == "-") return "-";
    if (known_number(of.low) == "-") return fmt::format("{:.3g}", of.value);
    return fmt::format("{:.3g} ({:.3g} to {:.3g})", of.value, of.low, of.high);
}

}  // namespace
}  // namespace report

condition_report report_of(condition_comparison result, const execution& run) {
    condition_report report;
    execution used = run;
    used.threads = result.options.run.threads;
    record_run(report.run, describe(result.options), result.options.permutation.seed, used, {});
    report.run.warnings = result.warnings;
    report.run.seconds = result.seconds;
    report.result = std::move(result);
    return report;
}

void write_condition_report(const std::filesystem::path& folder, const condition_report& report,
                            bool overwrite, const execution& run) {
    io::result_folder out(folder, overwrite, report::comparison_files);
    out.write("differences.tsv", report::differences_tsv(report.result));
    out.write("differences.graphml", report::difference_graphml(report.result));
    out.write("differences.svg", report::difference_svg(report.result));
    out.write("run.json", report::text_of(report::comparison_json(report)));
    out.commit(run.stop);
}

std::string summarize(const condition_report& report) {
    constexpr std::size_t shown = 20;
    const condition_comparison& result = report.result;
    const label_permutations& labellings = result.labellings;
    std::string text =
        report::side_text('a', result.conditions[0], result.samples) +
        report::side_text('b', result.conditions[1], result.samples) +
        fmt::format("{} {} labellings, smallest p {:.3g}; {}, alpha {}\n",
                    labellings.exact ? "all" : "random", core::grouped(labellings.number),
                    labellings.smallest_p, to_string(result.options.change_correction),
                    result.options.change_alpha);
    if (result.findings.empty()) return text + "\nNo edge or chain was found to compare.\n";

    std::vector<const episode_change*> order;
    std::size_t changed = 0;
    for (const episode_change& one : result.findings) {
        order.push_back(&one);
        changed += one.change != change_kind::none ? 1 : 0;
    }
    std::ranges::stable_sort(order, {}, [](const episode_change* one) {
        return std::tuple(one->change == change_kind::none, std::min(one->excess_q, one->rate_q));
    });
    text += fmt::format("\n{} of {} findings changed\n", core::grouped(changed),
                        core::grouped(order.size()));
    text += "change  occurrences a, b; times as often in b; difference of the excess; q of both\n";
    for (std::size_t k = 0; k < std::min(shown, order.size()); ++k) {
        const episode_change& one = *order[k];
        text +=
            fmt::format("{:<6} {:<4}  {} {}: {}, {}; {}; {}; {}, {}\n", to_string(one.change),
                        report::direction_of(one), report::units_text(result.unit_names, one.what),
                        report::delays_text(one.what), core::grouped(one.counts[0]),
                        core::grouped(one.counts[1]), report::interval_words(one.rate.ratio),
                        report::interval_words(one.excess.difference), report::p_text(one.rate_q),
                        report::p_text(one.excess_q));
    }
    if (order.size() > shown) text += fmt::format("{} more\n", core::grouped(order.size() - shown));
    return text;
}

}  // namespace spikeweave
