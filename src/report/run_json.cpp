#include "report/run_json.hpp"

#include <cmath>
#include <utility>

namespace spikeweave::report {
namespace {

json devices_of(const run_record& run) {
    json list = json::array();
    for (const device_info& one : run.devices)
        list.push_back({{"device", "cuda:" + std::to_string(one.ordinal)},
                        {"name", one.name},
                        {"driver", one.driver}});
    return list;
}

}  // namespace

std::string text_of(const json& document) {
    return document.dump(2, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string compact(const json& document) {
    return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string reason_of(const json::exception& error) {
    const std::string_view text = error.what();
    const std::size_t mark = text.find("] ");
    return std::string(mark == std::string_view::npos ? text : text.substr(mark + 2));
}

double ms(duration d) {
    return static_cast<double>(d.count()) / 1000;
}

json ms(const delay_interval& delay) {
    return json::array({ms(delay.low), ms(delay.high)});
}

json ms(std::span<const delay_interval> delays) {
    json all = json::array();
    for (const delay_interval& delay : delays) all.push_back(ms(delay));
    return all;
}

delay_interval delay_of_ms(const json& ends) {
    const auto at = [&](std::size_t i) {
        return duration{std::llround(1000 * ends.at(i).get<double>())};
    };
    return {at(0), at(1)};
}

json names_json(std::span<const std::string> names, std::span<const unit_id> units) {
    json out = json::array();
    for (const unit_id unit : units) out.push_back(names[to_index(unit)]);
    return out;
}

json parameters_json(const parameter_list& parameters) {
    json all = json::object();
    for (const auto& [name, value] : parameters)
        std::visit([&, &key = name](const auto& held) { all[key] = held; }, value);
    return all;
}

json file_json(const input_record& file) {
    return {{"path", file.path},
            {"bytes", file.bytes},
            {"digest_algorithm", file.digest_algorithm},
            {"digest", file.digest}};
}

json spans_json(std::span<const time_span> epochs) {
    json all = json::array();
    for (const auto& [begin, end] : epochs) all.push_back({to_seconds(begin), to_seconds(end)});
    return all;
}

json contents_of(const spike_sequence& spikes) {
    json contents{{"spikes", spikes.size()},
                  {"units", spikes.unit_count()},
                  {"begin_s", to_seconds(spikes.span().begin)},
                  {"end_s", to_seconds(spikes.span().end)}};
    if (spikes.epochs().empty()) return contents;
    contents["observed_s"] = to_seconds(spikes.observed_time());
    contents["epochs_s"] = spans_json(spikes.epochs());
    return contents;
}

json run_json(const run_record& run, const std::string& summary, const json& contents) {
    json input = file_json(run.input);
    input.update(contents);
    input["duplicates_dropped"] = run.duplicates;
    input["stimulus_markers"] = run.stimuli;
    input["warnings"] = run.warnings;
    json out = json::object();
    if (!summary.empty()) out["summary"] = summary;
    out.update({{"spikeweave", run.version},
                {"command", run.command},
                {"parameters", parameters_json(run.parameters)},
                {"input", input},
                {"seed", run.seed},
                {"threads", run.threads},
                {"devices", devices_of(run)},
                {"seconds", run.seconds},
                {"peak_memory_bytes", run.peak_memory_bytes}});
    return out;
}

json replication_json(const replication_record& what, std::optional<other_recording> other) {
    json out{{"searched_s", to_seconds(what.searched)},
             {"tested_s", to_seconds(what.tested_in)},
             {"tested", what.tested}};
    if (what.significant) out["significant"] = *what.significant;
    out["replicated"] = what.replicated;
    if (!other) return out;
    out[other->role] = std::move(other->file);
    out["missing_units"] = std::move(other->missing_units);
    out["untested"] = other->untested;
    return out;
}

}  // namespace spikeweave::report
