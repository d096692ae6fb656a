#include "report/several.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/stop.hpp"
#include "core/text.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "report/text.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::report {
namespace {

struct pair_matches {
    std::uint64_t number = 0;
    // One more than the position of the last spike of each that matched.
    std::size_t last_of_one = 0;
    std::size_t last_of_other = 0;
};

std::vector<std::uint64_t> spikes_of_units(const spike_sequence& spikes) {
    std::vector<std::uint64_t> numbers(spikes.unit_count());
    for (const unit_id unit : spikes.units()) ++numbers[to_index(unit)];
    return numbers;
}

// Numbers that both results have to have, if they are known.
void check_equal(const std::vector<named_result>& results, const char* key, const char* words) {
    const json& one = results[0].document.at("recording").at(key);
    const json& other = results[1].document.at("recording").at(key);
    if (one == 0 || other == 0 || one == other) return;
    throw invalid_argument(fmt::format(
        "'{}' and '{}' are sortings of different recordings, with {} and {} {}", results[0].place,
        results[1].place, one.get<double>(), other.get<double>(), words));
}

void check_same_recording(const std::vector<named_result>& results) {
    if (results.size() != 2) throw invalid_argument("only two sortings can be compared in a page");
    for (const named_result& one : results)
        if (one.document.at("recording").at("sample_rate_hz") == 0)
            throw invalid_argument(
                fmt::format("the times of the spikes of '{}' are not known", one.place));
    check_equal(results, "sample_rate_hz", "samples a second");
    check_equal(results, "samples", "samples");
}

// The best match of each unit: the pair with the largest agreement, if that is no chance.
std::vector<const unit_pair*> best_of(const std::vector<unit_pair>& pairs, unit_id unit_pair::*own,
                                      std::size_t units) {
    std::vector<const unit_pair*> best(units, nullptr);
    for (const unit_pair& one : pairs) {
        const unit_pair*& held = best[to_index(one.*own)];
        if (one.agreement >= chance_agreement && (!held || one.agreement > held->agreement))
            held = &one;
    }
    return best;
}

// Rows of the page: units of the first sorting with their best match, then those of the second one
// that are in no row yet.
json rows_of_units(const std::vector<unit_pair>& pairs, std::size_t units, std::size_t others) {
    const auto best = best_of(pairs, &unit_pair::one, units);
    const auto best_of_others = best_of(pairs, &unit_pair::other, others);
    json rows{{"one", json::array()},
              {"other", json::array()},
              {"matches", json::array()},
              {"agreement", json::array()},
              {"matched", json::array()}};
    const auto add = [&](const json& one, const json& other, const unit_pair* pair) {
        rows["one"].push_back(one);
        rows["other"].push_back(other);
        rows["matches"].push_back(pair ? pair->matches : 0);
        rows["agreement"].push_back(pair ? pair->agreement : 0);
        rows["matched"].push_back(pair && pair->agreement >= matched_agreement &&
                                  best[to_index(pair->one)] == pair &&
                                  best_of_others[to_index(pair->other)] == pair);
    };
    std::vector<bool> listed(others);
    for (std::size_t i = 0; i < units; ++i) {
        if (best[i]) listed[to_index(best[i]->other)] = true;
        add(i, best[i] ? json(to_index(best[i]->other)) : json(), best[i]);
    }
    for (std::size_t j = 0; j < others; ++j)
        if (!listed[j])
            add(best_of_others[j] ? json(to_index(best_of_others[j]->one)) : json(), j,
                best_of_others[j]);
    return rows;
}

json columns_of_pairs(const std::vector<unit_pair>& pairs) {
    return columns_of({"one", "other", "matches", "agreement"}, pairs, [](const unit_pair& pair) {
        return json::array({pair.one, pair.other, pair.matches, pair.agreement});
    });
}

}  // namespace

std::vector<unit_pair> agreement_of(const spike_sequence& one, const spike_sequence& other,
                                    const execution& run) {
    const std::size_t others = other.unit_count();
    std::vector<pair_matches> matches(one.unit_count() * others);
    const auto times = one.times_us();
    const auto other_times = other.times_us();
    std::size_t first = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (i % 65'536 == 0) core::throw_if_stopped(run.stop);
        while (first < other_times.size() && other_times[first] < times[i] - same_spike.count())
            ++first;
        for (std::size_t j = first;
             j < other_times.size() && other_times[j] <= times[i] + same_spike.count(); ++j) {
            pair_matches& pair =
                matches[to_index(one.units()[i]) * others + to_index(other.units()[j])];
            if (pair.last_of_one == i + 1 || pair.last_of_other >= j + 1) continue;
            pair = {pair.number + 1, i + 1, j + 1};
        }
    }
    const std::vector<std::uint64_t> spikes = spikes_of_units(one);
    const std::vector<std::uint64_t> other_spikes = spikes_of_units(other);
    std::vector<unit_pair> pairs;
    for (std::size_t k = 0; k < matches.size(); ++k) {
        if (matches[k].number == 0) continue;
        const std::uint64_t number = matches[k].number;
        const std::uint64_t all = spikes[k / others] + other_spikes[k % others] - number;
        pairs.push_back({unit_id{static_cast<std::uint32_t>(k / others)},
                         unit_id{static_cast<std::uint32_t>(k % others)}, number,
                         static_cast<double>(number) / static_cast<double>(all)});
    }
    return pairs;
}

std::string several_sortings_data(std::vector<named_result> results, const execution& run) {
    check_same_recording(results);
    const spike_sequence one = read_page_spikes(results[0].document);
    const spike_sequence other = read_page_spikes(results[1].document);
    const std::vector<unit_pair> pairs = agreement_of(one, other, run);
    json document = head_of("sort-comparison");
    document.update({{"within_ms", ms(same_spike)},
                     {"matched_agreement", matched_agreement},
                     {"sortings", json::array()},
                     {"pairs", columns_of_pairs(pairs)},
                     {"rows", rows_of_units(pairs, one.unit_count(), other.unit_count())}});
    for (named_result& result : results) {
        json sorting{{"name", result.name}};
        for (const char* const key :
             {"run", "unit_names", "spikes", "channels", "waveforms", "units"})
            sorting[key] = std::move(result.document.at(key));
        document["sortings"].push_back(std::move(sorting));
    }
    const json& sortings = document["sortings"];
    const auto matched = std::ranges::count(document["rows"]["matched"], json(true));
    add_verdict(
        document, "sortings",
        fmt::format("{} in both sortings, of {} in {} and {} in {}; agreement of at least {}.",
                    plural(static_cast<std::size_t>(matched), "unit", "units"),
                    core::grouped(one.unit_count()), sortings[0]["name"].get<std::string>(),
                    core::grouped(other.unit_count()), sortings[1]["name"].get<std::string>(),
                    matched_agreement));
    return compact(document);
}

}  // namespace spikeweave::report
