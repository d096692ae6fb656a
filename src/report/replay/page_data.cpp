#include "report/replay/page_data.hpp"

#include <array>
#include <string_view>

#include "io/file_error.hpp"
#include "report/episodes/page_data.hpp"
#include "report/page_spikes.hpp"
#include "report/page_tables.hpp"

namespace spikeweave::report {
namespace {

using namespace std::string_view_literals;

json replay_columns(const std::filesystem::path& folder, const unit_numbers& known,
                    const execution& run) {
    constexpr std::array plain{"chain"sv,
                               "direction"sv,
                               "scale"sv,
                               "count"sv,
                               "expected"sv,
                               "z"sv,
                               "p"sv,
                               "q"sv,
                               "significant"sv,
                               "events_scored"sv,
                               "events_significant"sv,
                               "events_expected"sv,
                               "events_p"sv,
                               "events_q"sv};
    page_table rows(folder / "replay.tsv");
    return first_rows(
        rows, plain, {"units", "delays_ms"},
        [&](json& columns) {
            json delays = intervals_of(rows, rows["delays"]);
            columns["units"].push_back(known.units(rows, rows["units"], "→", delays.size() + 1));
            columns["delays_ms"].push_back(std::move(delays));
        },
        run);
}

json event_columns(const std::filesystem::path& folder, const execution& run) {
    page_table rows(folder / "events.tsv");
    return first_rows(rows, run);
}

// The page needs the events, which earlier results do not tell.
json run_with_events(const std::filesystem::path& folder) {
    json run = read_run(folder, "replay.tsv");
    if (!run.is_object() || !run.contains("replay") || !run["replay"].contains("events_s"))
        throw io::file_error(folder / "run.json",
                             "it does not tell when the events are (replay.events_s), as results "
                             "of earlier versions of spikeweave; repeat replay to have a page");
    return run;
}

}  // namespace

std::string replay_page_data(const std::filesystem::path& folder, const spike_sequence& spikes,
                             const execution& run) {
    const unit_numbers known(spikes.unit_names());
    return page_text({{"format", "spikeweave page"},
                      {"version", 1},
                      {"kind", "replay"},
                      {"run", run_with_events(folder)},
                      {"units", spikes.unit_names()},
                      {"spikes", page_spikes(spikes)},
                      {"tests", replay_columns(folder, known, run)},
                      {"events", event_columns(folder, run)}});
}

}  // namespace spikeweave::report
