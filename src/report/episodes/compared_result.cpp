#include <cmath>
#include <utility>

#include "core/stop.hpp"
#include "report/episodes/comparison.hpp"
#include "report/episodes/page_data.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"

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

std::vector<unit_id> units_of_numbers(const std::vector<std::uint32_t>& numbers) {
    std::vector<unit_id> units;
    units.reserve(numbers.size());
    for (const std::uint32_t number : numbers) units.push_back(unit_id{number});
    return units;
}

std::vector<delay_interval> delays_of_cell(const page_table& rows, std::string_view cell) {
    std::vector<delay_interval> delays = delays_of_ms(intervals_of(rows, cell));
    if (delays.empty() && cell != "-") rows.fail("there is no delay");
    return delays;
}

std::vector<compared_edge> edges_of(const std::filesystem::path& folder,
                                    const unit_numbers& known) {
    page_table rows(folder / "circuit.tsv");
    std::vector<compared_edge> edges;
    while (rows.next())
        edges.push_back(
            {{units_of_numbers({known.unit(rows, rows["from"]), known.unit(rows, rows["to"])}),
              {delays_of_cell(rows, rows["best_delay"]).at(0)}},
             delays_of_cell(rows, rows["delay"]).at(0),
             std::string(rows["kind"]),
             std::string(rows["sign"]),
             rows.number(rows["q"])});
    return edges;
}

episode_row row_of(const page_table& rows, const unit_numbers& known) {
    const auto size = static_cast<std::size_t>(rows.number(rows["size"]));
    return {.what = {units_of_numbers(known.units(rows, rows["units"], "→", size)),
                     delays_of_cell(rows, rows["delays"])},
            .in = {.count = static_cast<std::uint64_t>(rows.number(rows["count"])),
                   .expected = rows.number(rows["expected"]),
                   .q = rows.number(rows["q"]),
                   .strength = rows.number(rows["strength"]),
                   .significant = rows["significant"] == "yes",
                   .is_listed = true}};
}

episode_row row_of_page(const json& episodes, std::size_t i) {
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

compared_result result_of_folder(const std::filesystem::path& folder, std::string name, json run,
                                 spike_sequence spikes, const execution& stop) {
    const auto known = std::make_shared<const unit_numbers>(spikes.unit_names());
    std::vector<compared_edge> edges = edges_of(folder, *known);
    const auto each = [folder, known, stop](const std::function<void(episode_row &&)>& take) {
        page_table rows(folder / "episodes.tsv");
        for (std::size_t number = 1; rows.next(); ++number) {
            core::throw_if_stopped(stop.stop);
            episode_row row = row_of(rows, *known);
            row.number = number;
            take(std::move(row));
        }
    };
    return {std::move(name),   folder.string(),  std::move(run),
            std::move(spikes), std::move(edges), each};
}

compared_result result_of_page(const std::string& name, json page) {
    std::vector<compared_edge> edges;
    for (const json& edge : page.at("edges"))
        edges.push_back({{units_of_numbers({edge.at("from"), edge.at("to")}),
                          {delay_of_ms(edge.at("best_delay_ms"))}},
                         delay_of_ms(edge.at("delay_ms")),
                         edge.at("kind"),
                         edge.at("sign"),
                         edge.at("q")});
    const auto episodes = std::make_shared<const json>(std::move(page.at("episodes")));
    const auto each = [episodes](const std::function<void(episode_row &&)>& take) {
        for (std::size_t i = 0; i < episodes->at("units").size(); ++i)
            take(row_of_page(*episodes, i));
    };
    return {name, name, std::move(page.at("run")), read_page_spikes(page), std::move(edges), each};
}

}  // namespace spikeweave::report
