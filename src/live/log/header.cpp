#include "live/log/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/version.hpp"

namespace spikeweave::live {
namespace {

using json = nlohmann::ordered_json;

json json_of_value(const option_value& value) {
    struct {
        json operator()(std::nullptr_t) const { return nullptr; }
        json operator()(bool flag) const { return flag; }
        json operator()(std::uint64_t number) const { return number; }
        json operator()(double number) const { return number; }
        json operator()(duration time) const { return time.count(); }
        json operator()(const std::string& text) const { return text; }
    } const as_json;
    return std::visit(as_json, value);
}

option_value value_of(const json& stored, option_kind kind) {
    if (stored.is_null()) return nullptr;
    switch (kind) {
        case option_kind::flag:
            return stored.get<bool>();
        case option_kind::whole:
        case option_kind::memory:
            return stored.get<std::uint64_t>();
        case option_kind::number:
        case option_kind::length:
            return stored.get<double>();
        case option_kind::time:
            return duration{stored.get<std::int64_t>()};
        case option_kind::choice:
        case option_kind::text:
            break;
    }
    return stored.get<std::string>();
}

template <class Options>
std::string json_of_options(Options options) {
    json stored = json::object();
    for (const option& one : describe(options))
        if (one.is_set()) stored[one.name] = json_of_value(one.get());
    return stored.dump();
}

// Options that were not set are not in the file.
template <class Options>
Options options_of(const std::string& text) {
    Options options;
    const option_list list = describe(options);
    const json stored = json::parse(text);
    for (const auto& [name, value] : stored.items()) {
        const option& one = list.find(name);
        one.set(value_of(value, one.kind));
    }
    list.check();
    return options;
}

constexpr std::array<std::pair<order_policy, std::string_view>, 3> policies{{
    {order_policy::source, "source"},
    {order_policy::block, "block"},
    {order_policy::lateness, "lateness"},
}};

std::string json_of_order(const order_options& order) {
    const auto* const policy = std::find_if(policies.begin(), policies.end(), [&](const auto& one) {
        return one.first == order.policy;
    });
    return json{{"policy", policy->second},
                {"lateness_us", order.lateness.count()},
                {"most_margin_us", order.most_margin.count()}}
        .dump();
}

order_options order_of(const std::string& text) {
    const json stored = json::parse(text);
    const auto name = stored.at("policy").get<std::string>();
    const auto* const policy = std::find_if(policies.begin(), policies.end(),
                                            [&](const auto& one) { return one.second == name; });
    if (policy == policies.end())
        throw invalid_argument("order", fmt::format("there is no policy {}", name));
    return {policy->first, duration{stored.at("lateness_us").get<std::int64_t>()},
            duration{stored.at("most_margin_us").get<std::int64_t>()}};
}

unit_id unit_of(const std::string& name, const std::vector<std::string>& unit_names) {
    const auto unit = std::find(unit_names.begin(), unit_names.end(), name);
    if (unit == unit_names.end()) throw invalid_argument(fmt::format("there is no unit {}", name));
    return unit_id{static_cast<std::uint32_t>(unit - unit_names.begin())};
}

// A pattern is [["a",0],["b",2]]: units and lags. Only the first element tells it from an episode.
bool is_pattern(std::string_view text) {
    return text.starts_with("[[");
}

std::vector<pattern_spike> pattern_of(std::string_view text,
                                      const std::vector<std::string>& unit_names) {
    std::vector<pattern_spike> pattern;
    for (const json& spike : json::parse(text))
        pattern.push_back({unit_of(spike.at(0).get<std::string>(), unit_names),
                           spike.at(1).get<std::uint32_t>()});
    return pattern;
}

std::string json_of_pattern(const std::vector<pattern_spike>& pattern,
                            const std::vector<std::string>& names_as_json) {
    std::string text;
    for (const auto& [unit, lag] : pattern)
        fmt::format_to(std::back_inserter(text), "{}[{},{}]", text.empty() ? "[" : ",",
                       names_as_json[to_index(unit)], lag);
    return text + ']';
}

// Whatever a damaged text makes is an error of the file.
void read_part(const io::database& session, std::string_view part,
               const std::function<void()>& read) {
    try {
        read();
    } catch (const json::exception&) {
        throw io::file_error(session.path(), part, "found damaged JSON");
    } catch (const std::invalid_argument& error) {
        throw io::file_error(session.path(), part, io::shown(error.what()));
    }
}

std::string meta_of(io::database& session, std::string_view name) {
    const auto asked = session.prepare("SELECT value FROM meta WHERE name = ?");
    asked->bind_text(1, name);
    return asked->next_row() ? std::string(asked->text(0)) : std::string();
}

}  // namespace

episode episode_of(std::string_view text, const std::vector<std::string>& unit_names) {
    episode what;
    const json stored = json::parse(text);
    for (std::size_t i = 0; i < stored.size(); ++i) {
        if (i % 2 == 1) {
            what.delays.push_back({duration{stored[i].at(0).get<std::int64_t>()},
                                   duration{stored[i].at(1).get<std::int64_t>()}});
            continue;
        }
        what.units.push_back(unit_of(stored[i].get<std::string>(), unit_names));
    }
    return what;
}

void check_unit_name(const std::string& name) {
    if (!io::is_printable_utf8(name))
        throw invalid_argument(
            fmt::format("the unit {} cannot stand in the file of a session", io::shown(name)));
}

std::string json_of_name(const std::string& name) {
    return json(name).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_of(const episode& what, const std::vector<std::string>& names_as_json) {
    std::string text = "[";
    text += names_as_json[to_index(what.units.front())];
    for (std::size_t step = 0; step < what.delays.size(); ++step)
        fmt::format_to(std::back_inserter(text), ",[{},{}],{}", what.delays[step].low.count(),
                       what.delays[step].high.count(),
                       names_as_json[to_index(what.units[step + 1])]);
    text += ']';
    return text;
}

void write_header(io::database& session, const session_header& header) {
    const auto meta = session.prepare("INSERT INTO meta VALUES (?, ?)");
    const auto put = [&](std::string_view name, const std::string& value) {
        meta->bind_text(1, name).bind_text(2, value).run();
    };
    put("program", fmt::format("spikeweave {}", version()));
    put("order", json_of_order(header.analysis.order));
    put("detector", json_of_options(header.analysis.detector));
    put("triggers", json_of_options(header.analysis.triggers));
    if (!header.analysis.patterns.patterns.empty())
        put("pattern_bin_us", std::to_string(header.analysis.patterns.bin.count()));
    if (header.analysis.windows) put("windows", json_of_options(*header.analysis.windows));
    if (header.analysis.arming) put("arming", json_of_options(*header.analysis.arming));

    const auto unit = session.prepare("INSERT INTO unit VALUES (?, ?, 0)");
    std::vector<std::string> names;
    for (const std::string& name : header.unit_names) {
        check_unit_name(name);
        unit->bind(1, static_cast<std::int64_t>(names.size())).bind_text(2, name).run();
        names.push_back(json_of_name(name));
    }
    const auto armed = session.prepare("INSERT INTO armed VALUES (?, ?, ?)");
    std::int64_t id = 0;
    const auto arm = [&](const std::string& text, std::size_t fire_at) {
        armed->bind(1, id++).bind_text(2, text).bind(3, static_cast<std::int64_t>(fire_at)).run();
    };
    for (const auto& [what, fire_at] : header.analysis.armed) arm(json_of(what, names), fire_at);
    for (const auto& pattern : header.analysis.patterns.patterns)
        arm(json_of_pattern(pattern, names), 0);
}

session_header read_header(io::database& session) {
    session_header header;
    const auto units = session.prepare("SELECT id, name FROM unit WHERE input = 0 ORDER BY id");
    while (units->next_row()) {
        if (units->count(0) != header.unit_names.size())
            throw io::file_error(session.path(), "table unit",
                                 fmt::format("found the id {}, expected {}", units->number(0),
                                             header.unit_names.size()));
        header.unit_names.emplace_back(units->text(1));
    }
    read_part(session, "order",
              [&] { header.analysis.order = order_of(meta_of(session, "order")); });
    read_part(session, "detector", [&] {
        header.analysis.detector =
            options_of<episode_detector_options>(meta_of(session, "detector"));
    });
    const std::string windows = meta_of(session, "windows");
    if (!windows.empty())
        read_part(session, "windows",
                  [&] { header.analysis.windows = options_of<episode_window_options>(windows); });
    read_part(session, "triggers", [&] {
        header.analysis.triggers = options_of<trigger_options>(meta_of(session, "triggers"));
    });
    const std::string arming = meta_of(session, "arming");
    if (!arming.empty())
        read_part(session, "arming", [&] {
            header.analysis.arming = options_of<arming_settings>(arming);
            if (!header.analysis.windows) throw invalid_argument("there are no windows");
        });
    const std::string bin = meta_of(session, "pattern_bin_us");
    if (!bin.empty())
        read_part(session, "pattern_bin_us", [&] {
            header.analysis.patterns.bin = duration{json::parse(bin).get<std::int64_t>()};
        });
    auto& patterns = header.analysis.patterns.patterns;
    const auto armed = session.prepare("SELECT episode, fire_at FROM armed ORDER BY id");
    while (armed->next_row())
        read_part(session, "table armed", [&] {
            const std::string_view text = armed->text(0);
            if (is_pattern(text))
                patterns.push_back(pattern_of(text, header.unit_names));
            else if (patterns.empty())
                header.analysis.armed.push_back({episode_of(text, header.unit_names),
                                                 static_cast<std::size_t>(armed->count(1))});
            else
                throw invalid_argument("found an episode after a pattern");
        });
    return header;
}

}  // namespace spikeweave::live
