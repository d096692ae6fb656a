#include "report/several.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "core/text.hpp"
#include "report/episodes/several.hpp"
#include "report/text.hpp"
#include "spikeweave/assess/multiple_testing.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/epochs.hpp"

namespace spikeweave::report {
namespace {

std::string episodes_data(std::vector<named_result> all, bool is_series, double alpha,
                          const execution& run) {
    std::vector<compared_result> results;
    results.reserve(all.size());
    for (named_result& one : all) results.push_back(compared_result_of(std::move(one)));
    return several_episodes_data(several_of(std::move(results), run), is_series, alpha);
}

// @throws invalid_argument unless all results are of one kind, such as "spade".
void check_kinds(std::span<const std::string> kinds, std::span<const std::string> places) {
    for (std::size_t i = 0; i < kinds.size(); ++i)
        if (kinds[i] != kinds[0])
            throw invalid_argument(fmt::format(
                "'{}' is a result of {} and '{}' is one of {}: only results of one kind can be "
                "compared",
                places[0], kinds[0], places[i], kinds[i]));
    if (kinds[0] == "replay" || kinds[0] == "assemblies" || kinds[0] == "track" ||
        kinds[0] == "compare")
        throw invalid_argument(
            fmt::format("'{}' is a result of {}, which cannot be compared with another one",
                        places[0], kinds[0]));
    if (kinds[0] == "windows")
        throw invalid_argument(
            fmt::format("'{}' is a result of episodes in windows, which cannot be compared with "
                        "another one",
                        places[0]));
}

}  // namespace

std::vector<std::string> names_of_folders(std::span<const std::filesystem::path> folders) {
    std::vector<std::string> names;
    for (const std::filesystem::path& folder : folders) {
        const std::filesystem::path whole =
            std::filesystem::absolute(folder / "").lexically_normal();
        names.push_back(whole.parent_path().filename().string());
    }
    if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
        for (std::size_t i = 0; i < names.size(); ++i) names[i] = folders[i].string();
    return names;
}

std::string several_data(std::vector<named_result> results, const page_options& options,
                         const execution& run) {
    std::vector<std::string> kinds;
    std::vector<std::string> places;
    for (const named_result& one : results) {
        kinds.push_back(one.document.at("kind"));
        places.push_back(one.place);
    }
    check_kinds(kinds, places);
    const bool is_series = options.as == several_view::series;
    if (kinds[0] == "episodes")
        return episodes_data(std::move(results), is_series, options.alpha, run);
    if (kinds[0] == "spade")
        return several_patterns_data(std::move(results), is_series, options.alpha, run);
    if (options.as) throw invalid_argument(fmt::format("`as` is not for results of {}", kinds[0]));
    if (kinds[0] == "bursts") return several_bursts_data(std::move(results));
    return several_sortings_data(std::move(results), run);
}

std::vector<unit_map> join_units(std::span<spike_sequence* const> sequences) {
    std::set<std::string> names;
    for (const spike_sequence* const one : sequences)
        names.insert(one->unit_names().begin(), one->unit_names().end());
    std::vector<unit_map> maps;
    for (spike_sequence* const one : sequences) {
        const std::vector<std::string> own_names = one->unit_names();
        spike_sequence_builder joined;
        for (const std::string& name : names) joined.unit(name);
        unit_map units;
        for (const std::string& name : own_names) units.push_back(joined.unit(name));
        for (std::size_t i = 0; i < one->size(); ++i)
            joined.append(one->times_us()[i], units[to_index(one->units()[i])]);
        *one = taken_from(*one, joined.finish(one->span()));
        units.clear();  // `finish` numbers units anew
        for (const std::string& name : own_names) units.push_back(one->unit(name));
        maps.push_back(std::move(units));
    }
    return maps;
}

namespace {

double rate_of(const event_count& counts) {
    return static_cast<double>(counts.events) / counts.seconds;
}

}  // namespace

std::vector<rate_change> rate_changes(std::span<const counted_twice> counts, double alpha) {
    std::vector<double> p;
    p.reserve(counts.size());
    for (const counted_twice& one : counts) p.push_back(rate_change_p_value(one.before, one.after));
    const auto q = adjust_p_values(p, p.size(), correction_method::benjamini_hochberg);
    std::vector<rate_change> changes;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const auto& [before, after, was, is, is_rare] = counts[i];
        rate_change& change = changes.emplace_back(rate_change{p[i], q[i], ""});
        if (q[i] > alpha || (!was && !is)) continue;
        const bool rose = rate_of(after) > rate_of(before);
        change.change = !was ? "new" : !is ? "gone" : rose != is_rare ? "stronger" : "weaker";
    }
    return changes;
}

void add_verdict(json& document, const char* results, std::string sentence) {
    json warnings = json::array();
    const json::json_pointer place("/input/warnings");
    for (const json& one : document.at(results))
        for (const json& warning : one.at("run").value(place, json::array()))
            warnings.push_back(fmt::format("{}: {}", one.at("name").get<std::string>(),
                                           warning.get<std::string>()));
    document["run"] = {{"summary", with_warnings(std::move(sentence), warnings.size())},
                       {"input", {{"warnings", std::move(warnings)}}}};
}

void add_verdict_of_changes(json& document, bool is_series, std::string_view what) {
    constexpr std::array<std::string_view, 4> kinds{"new", "gone", "stronger", "weaker"};
    std::size_t all = 0;
    std::vector<std::string> of_kind;
    for (const std::string_view kind : kinds) {
        std::size_t number = 0;
        for (const json& one : document.at("changes"))
            number += static_cast<std::size_t>(std::ranges::count(one.at("change"), json(kind)));
        all += number;
        if (number > 0) of_kind.push_back(fmt::format("{} {}", core::grouped(number), kind));
    }
    const std::string changes = all == 0 ? "No change" : plural(all, "change", "changes");
    const json& compared = document.at(document.contains("patterns") ? "patterns" : "episodes");
    add_verdict(
        document, "recordings",
        fmt::format("{} of {} {} in {} recordings, each compared with the {}{}{}; {}.", changes,
                    core::grouped(compared.at("units").size()), what,
                    document.at("recordings").size(), is_series ? "one before it" : "first one",
                    all == 0 ? "" : ": ", fmt::join(of_kind, ", "),
                    level_text(correction_method::benjamini_hochberg, document.at("alpha"))));
}

json columns_of(std::span<const rate_change> changes, std::size_t from, std::size_t to) {
    json out{{"from", from}, {"to", to}};
    out.update(columns_of({"p", "q", "change"}, changes, [](const rate_change& one) {
        return json::array({one.p, one.q, one.change});
    }));
    return out;
}

}  // namespace spikeweave::report
