#include "report/condition_page.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "io/file_error.hpp"
#include "report/episodes/page_data.hpp"
#include "report/page_tables.hpp"

namespace spikeweave::report {
namespace {

std::vector<std::string> compared_units(const json& run, const std::filesystem::path& folder) {
    if (!run.is_object() || !run.contains("comparison") ||
        !run["comparison"].contains("unit_names"))
        throw io::file_error(folder / "run.json",
                             "it does not name the units (comparison.unit_names), as results of "
                             "earlier versions of spikeweave; repeat compare to have a page");
    return run["comparison"]["unit_names"];
}

json finding_columns(const std::filesystem::path& folder, const unit_numbers& known,
                     const execution& run) {
    page_table rows(folder / "differences.tsv");
    const bool are_patterns = std::ranges::find(rows.names(), "lags_ms") != rows.names().end();
    std::vector<std::string> names(rows.names().begin(), rows.names().end());
    std::erase_if(names, [](const std::string& name) {
        return name == "units" || name == "delays" || name == "lags_ms";
    });
    const std::vector<std::string_view> plain(names.begin(), names.end());
    const char* const steps = are_patterns ? "lags_ms" : "delays_ms";
    return first_rows(
        rows, plain, {"units", steps},
        [&](json& columns) {
            json times = are_patterns ? numbers_in(rows, rows["lags_ms"], ",")
                                      : intervals_of(rows, rows["delays"]);
            const std::size_t size = times.size() + (are_patterns ? 0 : 1);
            columns["units"].push_back(
                known.units(rows, rows["units"], are_patterns ? "," : "→", size));
            columns[steps].push_back(std::move(times));
        },
        run);
}

}  // namespace

std::string condition_page_data(const std::filesystem::path& folder, const execution& run) {
    const json record = read_run(folder, "differences.tsv");
    const std::vector<std::string> units = compared_units(record, folder);
    return page_text({{"format", "spikeweave page"},
                      {"version", 1},
                      {"kind", "conditions"},
                      {"run", record},
                      {"units", units},
                      {"findings", finding_columns(folder, unit_numbers(units), run)}});
}

}  // namespace spikeweave::report
