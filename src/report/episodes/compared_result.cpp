#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "report/episodes/several.hpp"
#include "report/page_spikes.hpp"

namespace spikeweave::report {
namespace {

delay_interval delay_of_ms(const json& ends) {
    const auto at = [&](std::size_t i) {
        return duration{std::llround(1000 * ends.at(i).get<double>())};
    };
    return {at(0), at(1)};
}

std::vector<delay_interval> delays_of_ms(const json& intervals) {
    std::vector<delay_interval> delays;
    for (const json& ends : intervals) delays.push_back(delay_of_ms(ends));
    return delays;
}

std::vector<unit_id> units_of_numbers(const json& numbers) {
    std::vector<unit_id> units;
    units.reserve(numbers.size());
    for (const json& number : numbers) units.push_back(unit_id{number.get<std::uint32_t>()});
    return units;
}

std::vector<compared_edge> edges_of(const json& circuit) {
    std::vector<compared_edge> edges;
    for (std::size_t i = 0; i < circuit.at("from").size(); ++i) {
        const auto cell = [&](const char* name) -> const json& { return circuit.at(name).at(i); };
        edges.push_back(
            {{units_of_numbers({cell("from"), cell("to")}), {delay_of_ms(cell("best_delay_ms"))}},
             delay_of_ms(cell("delay_ms")),
             cell("kind"),
             cell("sign"),
             cell("q")});
    }
    return edges;
}

episode_row row_of(const json& episodes, std::size_t i) {
    const auto cell = [&](const char* name) -> const json& { return episodes.at(name).at(i); };
    return {.number = i + 1,
            .what = {units_of_numbers(cell("units")), delays_of_ms(cell("delays_ms"))},
            .in = {.count = cell("count"),
                   .expected = cell("expected"),
                   .q = cell("q"),
                   .strength = cell("strength"),
                   .significant = cell("significant"),
                   .is_listed = true}};
}

}  // namespace

compared_result compared_result_of(named_result from) {
    json& document = from.document;
    std::vector<episode_row> rows;
    const json& episodes = document.at("episodes");
    rows.reserve(episodes.at("units").size());
    for (std::size_t i = 0; i < episodes.at("units").size(); ++i)
        rows.push_back(row_of(episodes, i));
    return {std::move(from.name),
            std::move(from.place),
            std::move(document.at("run")),
            read_page_spikes(document),
            edges_of(document.at("circuit")),
            std::move(rows)};
}

}  // namespace spikeweave::report
