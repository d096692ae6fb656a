#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/text.hpp"
#include "io/result_folder.hpp"
#include "report/described_tables.hpp"
#include "report/document.hpp"
#include "report/page_spikes.hpp"
#include "report/result_files.hpp"
#include "report/run_json.hpp"
#include "report/text.hpp"
#include "spikeweave/report/output_place.hpp"
#include "spikeweave/report/track.hpp"
#include "spikeweave/spikes/files.hpp"

namespace spikeweave {
namespace {

const std::string& name_of(const tracking_report& from, std::uint32_t session, std::uint32_t unit) {
    static const std::string none;
    return session < from.sessions.size() ? from.sessions[session].session.units[unit].name : none;
}

std::string name_of(const tracking_report& from, std::uint32_t session) {
    return session < from.sessions.size() ? from.sessions[session].session.name : std::string();
}

std::size_t sessions_with(const tracked_unit& neuron) {
    return static_cast<std::size_t>(std::ranges::count_if(
        neuron.in_session, [](const auto& unit) { return unit.has_value(); }));
}

// A unit of a neuron: its number in the order of neurons, and the session.
struct neuron_unit {
    std::size_t neuron = 0;
    std::uint32_t session = 0;
};

std::vector<neuron_unit> neuron_units(const tracking& found) {
    std::vector<neuron_unit> out;
    for (std::size_t n = 0; n < found.units.size(); ++n)
        for (std::uint32_t s = 0; s < found.units[n].in_session.size(); ++s)
            if (found.units[n].in_session[s]) out.push_back({n, s});
    return out;
}

report::row neuron_row(const tracking_report& from, const neuron_unit& what) {
    const bool is_known = what.neuron < from.found.units.size();
    const tracked_unit none{.in_session = {0U}};
    const tracked_unit& neuron = is_known ? from.found.units[what.neuron] : none;
    const std::uint32_t unit = *neuron.in_session[what.session];
    return {
        {"neuron", std::uint64_t{what.neuron + 1},
         "the number of the neuron, which is the name of its unit in `spikes/`"},
        {"session", name_of(from, what.session), "the folder of the session"},
        {"unit", name_of(from, what.session, unit), "its unit in the session"},
        {"spikes",
         is_known ? from.sessions[what.session].session.units[unit].spikes : std::uint64_t{0},
         "its spikes"},
        {"sessions", std::uint64_t{sessions_with(neuron)}, "number of sessions that have it"},
        {"probability", neuron.probability,
         "the least probability of two of its units being one neuron; 1 if it is in one session"}};
}

report::row match_row(const tracking_report& from, const unit_match& one) {
    return {{"session", name_of(from, one.session), "the earlier session"},
            {"unit", name_of(from, one.session, one.unit), "a unit of it"},
            {"other_session", name_of(from, one.other_session), "the later session"},
            {"other_unit", name_of(from, one.other_session, one.other_unit), "a unit of it"},
            {"probability", one.probability, "that both are one neuron"},
            {"similarity", one.similarity,
             "correlation of their mean waveforms over all channels, after motion was undone"},
            {"distance_um", report::fixed_number{one.distance_um, 1},
             "distance of their places, after motion was undone"},
            {"amplitude_ratio", one.amplitude_ratio,
             "amplitude of the second one's waveform by that of the first one's"},
            {"autocorrelogram_overlap", one.autocorrelogram_overlap,
             "overlap of the autocorrelograms (Bhattacharyya coefficient), 1 if they are equal"},
            {"accepted", one.is_accepted, "whether both are one neuron in `neurons.tsv`"}};
}

report::row relation_row(const tracking_report& from, const session_relation& one) {
    return {{"session", name_of(from, one.session), "the earlier session"},
            {"other_session", name_of(from, one.other_session), "the later session"},
            {"moved_um", report::fixed_number{one.moved_um, 1},
             "how far the tissue moved up along the probe in between"},
            {"matched", std::uint64_t{one.accepted}, "neurons that both have"},
            {"expected_false", one.expected_false,
             "how many of these are two neurons, by their probabilities"}};
}

// Numbers of units that a session has in common with the one before.
std::uint64_t kept_since_last(const tracking& found, std::uint32_t session) {
    return static_cast<std::uint64_t>(std::ranges::count_if(found.units, [&](const auto& neuron) {
        return session > 0 && neuron.in_session[session] && neuron.in_session[session - 1];
    }));
}

report::row session_row(const tracking_report& from, std::uint32_t s) {
    const bool is_known = s < from.sessions.size();
    const std::uint64_t units = is_known ? from.sessions[s].session.units.size() : 0;
    const split_half_check check = is_known ? from.found.checks[s] : split_half_check{};
    return {{"session", name_of(from, s), "the folder of the session"},
            {"spikes_file", fmt::format("spikes/{}.npz", s + 1),
             "the spikes of its units, named by neuron"},
            {"units", units, "units"},
            {"kept", is_known ? kept_since_last(from.found, s) : 0,
             "units whose neuron the session before has"},
            {"new", is_known ? units - kept_since_last(from.found, s) : 0,
             "units whose neuron it lacks"},
            {"checked", check.units,
             "units whose waveform in the first half of the session was looked for in the second "
             "half, where the truth is known"},
            {"missed", check.missed, "of these, not found"},
            {"wrong", check.wrong, "of these, taken for another unit"}};
}

report::result_table neurons_table(const tracking_report& from) {
    return {.name = "neurons",
            .size = neuron_units(from.found).size(),
            .at = [&from, all = neuron_units(from.found)](
                      std::size_t i) { return neuron_row(from, all[i]); },
            .names = neuron_row({}, {})};
}

report::result_table matches_table(const tracking_report& from) {
    return {.name = "matches",
            .size = from.found.matches.size(),
            .at = [&from](std::size_t i) { return match_row(from, from.found.matches[i]); },
            .names = match_row({}, {})};
}

report::result_table relations_table(const tracking_report& from) {
    return {.name = "relations",
            .size = from.found.relations.size(),
            .at = [&from](std::size_t i) { return relation_row(from, from.found.relations[i]); },
            .names = relation_row({}, {})};
}

report::result_table sessions_table(const tracking_report& from) {
    return {
        .name = "sessions",
        .size = from.sessions.size(),
        .at = [&from](std::size_t i) { return session_row(from, static_cast<std::uint32_t>(i)); },
        .names = session_row({}, 0)};
}

report::json run_of(const tracking_report& from) {
    report::json out = report::run_json(from.run, verdict_of(from), report::json::object());
    out.erase("seed");  // nothing is drawn
    report::json files = report::json::array();
    for (const session_spikes& one : from.sessions) files.push_back(report::file_json(one.input));
    out["input"] = {{"files", std::move(files)}, {"warnings", from.run.warnings}};
    return out;
}

report::json channels_json(const tracking_report& from) {
    report::json out{{"x_um", report::json::array()},
                     {"y_um", report::json::array()},
                     {"shank", report::json::array()}};
    for (const recording_channel& one : from.sessions.front().session.channels) {
        out["x_um"].push_back(one.x_um);
        out["y_um"].push_back(one.y_um);
        out["shank"].push_back(one.shank);
    }
    return out;
}

// The mean waveforms of the units in the order of `neurons.tsv`.
report::json waveforms_json(const tracking_report& from) {
    const sorted_session& first = from.sessions.front().session;
    std::vector<float> mean;
    std::vector<std::uint32_t> channels;
    std::vector<std::uint64_t> averaged;
    std::size_t width = 0;
    for (const neuron_unit& one : neuron_units(from.found)) {
        const unit_footprint& unit =
            from.sessions[one.session]
                .session.units[*from.found.units[one.neuron].in_session[one.session]];
        mean.insert(mean.end(), unit.mean.begin(), unit.mean.end());
        channels.insert(channels.end(), unit.channels.begin(), unit.channels.end());
        averaged.push_back(unit.spikes);
        width = unit.channels.size();
    }
    return {{"frames", first.frames},
            {"before", first.before},
            {"sample_rate_hz", first.rate_hz},
            {"channels_per_unit", width},
            {"channels", channels},
            {"averaged", averaged},
            {"mean_uv", report::scaled(mean)}};
}

report::document document_from(const tracking_report& from) {
    return {.kind = "track",
            .run = run_of(from),
            .values = {{"channels", channels_json(from)}, {"waveforms", waveforms_json(from)}},
            .tables = report::tables_of(from)};
}

// The spikes of a session, with the names of neurons.
spike_sequence named_by_neuron(const tracking_report& from, std::uint32_t session) {
    const spike_sequence& spikes = from.sessions[session].spikes;
    std::vector<std::string> names(spikes.unit_count());
    for (std::size_t n = 0; n < from.found.units.size(); ++n)
        if (const auto unit = from.found.units[n].in_session[session])
            names[*unit] = std::to_string(n + 1);
    std::vector<std::pair<std::int64_t, unit_id>> all;
    all.reserve(spikes.size());
    for (std::size_t i = 0; i < spikes.size(); ++i)
        all.emplace_back(spikes.times_us()[i], spikes.units()[i]);
    return sequence_of(std::move(all), std::move(names), spikes.span());
}

void add_warnings(tracking_report& to) {
    const tracking& found = to.found;
    for (std::uint32_t s = 0; s < found.checks.size(); ++s) {
        const split_half_check& one = found.checks[s];
        const std::uint64_t failed = one.missed + one.wrong;
        if (failed * 5 > one.units)
            to.run.warnings.push_back(fmt::format(
                "{} of {} units of {} are not found again in the other half of the same session: "
                "waveforms change so much that matches between sessions may be wrong or missing.",
                core::grouped(failed), core::grouped(one.units), to.sessions[s].session.name));
    }
    for (const session_relation& one : found.relations)
        if (one.accepted == 0)
            to.run.warnings.push_back(fmt::format("{} and {} have no neuron in common.",
                                                  to.sessions[one.session].session.name,
                                                  to.sessions[one.other_session].session.name));
}

}  // namespace

std::vector<report::result_table> report::tables_of(const tracking_report& from) {
    return {neurons_table(from), matches_table(from), relations_table(from), sessions_table(from)};
}

tracking_report track_sessions(std::vector<session_spikes> sessions,
                               const tracking_options& options, const execution& run) {
    std::vector<sorted_session> units;
    units.reserve(sessions.size());
    for (const session_spikes& one : sessions) units.push_back(one.session);
    tracking_report out{.sessions = std::move(sessions), .found = track_units(units, options, run)};
    tracking_options used = options;
    record_run(out.run, describe(used), 0, run, {});
    add_warnings(out);
    return out;
}

std::string verdict_of(const tracking_report& from) {
    const std::size_t sessions = from.sessions.size();
    std::size_t several = 0;
    std::size_t everywhere = 0;
    double expected_false = 0;
    for (const tracked_unit& neuron : from.found.units) {
        several += sessions_with(neuron) > 1 ? 1 : 0;
        everywhere += sessions_with(neuron) == sessions ? 1 : 0;
    }
    for (const session_relation& one : from.found.relations) expected_false += one.expected_false;
    std::string text = fmt::format("{} in {} sessions: {} in several of them",
                                   report::plural(from.found.units.size(), "neuron", "neurons"),
                                   core::grouped(sessions), core::grouped(several));
    if (sessions > 2) text += fmt::format(", {} in all", core::grouped(everywhere));
    text += fmt::format(" ({:.2g} false matches expected).", expected_false);
    return report::with_warnings(text, from.run.warnings.size());
}

void write_report(const std::filesystem::path& folder, const tracking_report& from, bool overwrite,
                  const execution& run) {
    io::result_folder out(folder, overwrite, report::files_of(result_kind::tracking));
    std::filesystem::create_directory(out.file("spikes"));
    for (std::uint32_t s = 0; s < from.sessions.size(); ++s)
        write_spikes(out.file(fmt::format("spikes/{}.npz", s + 1)), named_by_neuron(from, s), run);
    report::write_result(out, document_from(from), from.with_page, run);
    out.commit(run.stop);
}

std::string document_of(const tracking_report& from, const execution& run) {
    return report::whole_text(document_from(from), run);
}

std::string to_json(const tracking_report& from) {
    report::json out{{"run", run_of(from)}};
    for (const report::result_table& table : report::tables_of(from))
        out[table.name] = report::rows_of(table, {});
    return report::text_of(out);
}

std::string summarize(const tracking_report& from) {
    std::string out = verdict_of(from) + "\n";
    out += fmt::format("{:>6} {:>6} {:>6} {:>12}  {}\n", "units", "kept", "new", "split halves",
                       "session");
    for (std::uint32_t s = 0; s < from.sessions.size(); ++s) {
        const split_half_check& check = from.found.checks[s];
        const std::uint64_t kept = kept_since_last(from.found, s);
        const std::uint64_t units = from.sessions[s].session.units.size();
        fmt::format_to(
            std::back_inserter(out), "{:>6} {:>6} {:>6} {:>12}  {}\n", units, kept, units - kept,
            fmt::format("{} of {}", check.units - check.missed - check.wrong, check.units),
            from.sessions[s].session.name);
    }
    return out;
}

}  // namespace spikeweave
