#include "report/assemblies/page_data.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"

namespace spikeweave::report {
namespace {

using namespace std::string_view_literals;

// A browser draws more of them slowly.
constexpr std::size_t most_activations_of_a_page = 200'000;

json assembly_columns(const std::filesystem::path& folder, const unit_numbers& known,
                      const execution& run) {
    constexpr std::array plain{"assembly"sv, "bin_ms"sv, "count"sv, "p"sv, "p_corrected"sv};
    page_table rows(folder / "assemblies.tsv");
    return first_rows(
        rows, plain, {"units", "lags_ms"},
        [&](json& columns) {
            json lags = numbers_in(rows, rows["lags_ms"], " ");
            columns["units"].push_back(known.units(rows, rows["units"], "+", lags.size()));
            columns["lags_ms"].push_back(std::move(lags));
        },
        run);
}

// For each assembly of the page the number of bins in which it is active, and where those of its
// first unit begin, in microseconds. They are in the order of the assemblies.
void add_activations(json& assemblies, const std::filesystem::path& folder, const execution& run) {
    page_table rows(folder / "activations.tsv");
    const std::size_t shown = assemblies["assembly"].size();
    std::vector<std::size_t> active(shown);
    json& begins = assemblies["begins_us"];
    begins = json(shown, json::array());
    for (std::size_t number = 0; rows.next(); ++number) {
        core::stop_at_times(number, run.stop);
        const double of = rows.number(rows["assembly"]);
        if (!(of >= 1)) rows.fail("found no number of an assembly");
        if (of > static_cast<double>(shown)) break;
        const std::size_t which = static_cast<std::size_t>(of) - 1;
        ++active[which];
        if (number < most_activations_of_a_page)
            begins[which].push_back(std::llround(1e6 * rows.number(rows["begin_s"])));
    }
    assemblies["activations"] = active;
}

}  // namespace

std::string assembly_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                               const execution& run) {
    const unit_numbers known(spikes.unit_names());
    json assemblies = assembly_columns(folder, known, run);
    add_activations(assemblies, folder, run);
    page_table search(folder / "search.tsv");
    return page_text({{"format", "spikeweave page"},
                      {"version", 1},
                      {"kind", "assemblies"},
                      {"run", read_run(folder, "assemblies.tsv")},
                      {"units", spikes.unit_names()},
                      {"spikes", page_spikes(spikes)},
                      {"assemblies", std::move(assemblies)},
                      {"steps", first_rows(search, run)}});
}

}  // namespace spikeweave::report
