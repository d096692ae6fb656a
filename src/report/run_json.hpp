#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spikeweave/core/ids.hpp"
#include "spikeweave/core/members.hpp"
#include "spikeweave/core/time.hpp"
#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/report/run_record.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::report {

using json = nlohmann::ordered_json;

/// Replaces what is not UTF-8 instead of refusing it, because a path may hold any bytes.
std::string text_of(const json& document);
/// The same on one line.
std::string compact(const json& document);
/// The fault of a document, without the marks of the parser: "type must be string, but is
/// number".
std::string reason_of(const json::exception& error);
double ms(duration d);
/// Returns [low, high], or a list of these.
json ms(const delay_interval& delay);
json ms(std::span<const delay_interval> delays);
/// Reads such an interval.
delay_interval delay_of_ms(const json& ends);
/// Null if the value is unknown.
template <class Value>
json or_null(const std::optional<Value>& value) {
    return value ? json(*value) : json();
}
/// Returns the names of units.
json names_json(std::span<const std::string> names, std::span<const unit_id> units);
/// Returns an object with the parameters by their names.
json parameters_json(const parameter_list& parameters);
/// Returns what is known of a file that was read.
json file_json(const input_record& file);
/// Returns [begin, end] of each epoch, in seconds.
json spans_json(std::span<const time_span> epochs);
/// Returns what a record says of the spikes: their number and that of the units, the span, and the
/// epochs if there are any.
json contents_of(const spike_sequence& spikes);
/// Returns the record of a run without the part about its search.
/// @param summary  the result in a sentence; empty: there is none yet
/// @param contents  content of the input, besides its path, length and digest
json run_json(const run_record& run, const std::string& summary, const json& contents);

/// Records how a result of `pipeline` was computed.
/// @param devices  ordinals of the GPUs that were used
template <class Result>
void record_result(run_record& to, const Result& from, const option_list& resolved,
                   std::uint64_t seed, execution used, int threads,
                   std::span<const int> devices = {}) {
    used.threads = threads;
    record_run(to, resolved, seed, used, devices);
    to.warnings = from.warnings;
    to.seconds = from.seconds;
}
/// Returns an object with the members of a struct that has a description of them.
template <class Struct>
json json_of(const Struct& value) {
    json out;
    each_member(value, [&](const char* name, const auto& member) { out[name] = member; });
    return out;
}
template <class Struct>
json list_of(const std::vector<Struct>& values) {
    json out = json::array();
    for (const Struct& value : values) out.push_back(json_of(value));
    return out;
}
/// An object of arrays, one for each name.
/// @param cells_of  gives those of an item as an array
template <class Items, class Cells>
json columns_of(std::initializer_list<const char*> names, const Items& items,
                const Cells& cells_of) {
    json out;
    for (const char* const name : names) out[name] = json::array();
    for (const auto& item : items) {
        json cells = cells_of(item);
        auto cell = cells.begin();
        for (json& column : out) column.push_back(std::move(*cell++));
    }
    return out;
}

/// The findings of a search in spikes that were not searched.
struct replication_record {
    duration searched{};
    duration tested_in{};  ///< the time of the other spikes
    std::size_t tested = 0;
    std::optional<std::size_t> significant{};  ///< in the search, if not all that were tested are
    std::size_t replicated = 0;
};

/// The addition if these spikes are those of another recording.
struct other_recording {
    const char* role;  ///< the name of `file`
    json file;         ///< the recording that is not the input
    json missing_units;
    std::size_t untested;  ///< findings with such a unit
};

/// The part `hold_out` or `confirm` of run.json.
json replication_json(const replication_record& what, std::optional<other_recording> other);

}  // namespace spikeweave::report
