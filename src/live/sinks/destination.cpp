#include "live/sinks/destination.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string>
#include <string_view>

#include "live/network/lsl.hpp"
#include "live/sinks/serial_bytes.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/core/options.hpp"

namespace spikeweave::live {
namespace {

struct scheme {
    std::string_view prefix;
    destination_kind kind;
    std::string_view example;
};

constexpr std::array<scheme, 5> schemes{
    {{"zmq://", destination_kind::zeromq, "zmq://*:5601"},
     {"open-ephys-ttl://", destination_kind::open_ephys_ttl, "open-ephys-ttl://HOST:5556#line=3"},
     {"open-ephys-message://", destination_kind::open_ephys_message,
      "open-ephys-message://HOST:5556"},
     {"serial://", destination_kind::serial, "serial:///dev/ttyUSB0#byte=1"},
     {"lsl:", destination_kind::lsl, "lsl:NAME"}}};

const scheme* scheme_of(std::string_view text) {
    for (const scheme& one : schemes)
        if (text.starts_with(one.prefix)) return &one;
    if (text.find("://") == std::string_view::npos) return nullptr;
    std::string examples;
    for (const scheme& one : schemes) examples += fmt::format("{}, ", one.example);
    throw invalid_argument(
        fmt::format("'{}' is no destination: expected {}a file or -", text, examples));
}

// Less could not be told from the time between two looks of a source.
constexpr double shortest_max_age_s = 0.02;

// The settings of a destination are options with the names that they have in its fragment.
option_list settings_of(destination& to) {
    constexpr double most_lines = 256;
    option_list list;
    if (to.kind == destination_kind::zeromq) return list;
    list.add("episode", to.episode, "");
    if (stimulates(to.kind))
        list.add("max-age", to.max_age, "").at_least(shortest_max_age_s).at_most(1);
    if (to.kind == destination_kind::open_ephys_ttl) {
        list.add("line", to.line, "").at_least(1).at_most(most_lines);
        list.add("pulse", to.pulse, "").above(0).at_most(1);
    }
    if (to.kind == destination_kind::serial) {
        list.add("baud", to.baud, "").obeys([&to] { check_baud_rate(to.baud); });
        list.add("byte", to.byte, "");
    }
    return list;
}

void set_one(const option_list& settings, const std::string& text) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const auto known = std::ranges::find(settings, name, &option::name);
    if (known == settings.end() || equals == text.size()) {
        std::vector<std::string> names;
        for (const option& one : settings) names.push_back(one.name + "=");
        throw invalid_argument(
            names.empty()
                ? fmt::format("found #{}, expected nothing there", text)
                : fmt::format("found '{}' after #, expected {}", text, fmt::join(names, ", ")));
    }
    known->set_text(text.substr(equals + 1));
}

void set_all(destination& to, const std::string& fragment) {
    const option_list settings = settings_of(to);
    std::set<std::string> names;
    for (std::size_t begin = 0; begin <= fragment.size();) {
        const std::size_t end = std::min(fragment.find('&', begin), fragment.size());
        const std::string one = fragment.substr(begin, end - begin);
        if (!names.insert(one.substr(0, one.find('='))).second)
            throw invalid_argument(
                fmt::format("'{}' is given twice", one.substr(0, one.find('='))));
        set_one(settings, one);
        begin = end + 1;
    }
}

// Returns HOST:PORT for ZeroMQ.
std::string tcp_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    if (colon != std::string::npos && colon > 0) {
        const char* const end = text.data() + text.size();
        const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, port);
        if (error != std::errc{} || stopped != end) port = 0;
    }
    if (port == 0)
        throw invalid_argument(fmt::format("'{}' is not HOST:PORT with a port up to 65535", text));
    return "tcp://" + text;
}

std::string address_of(destination_kind kind, const std::string& where) {
    if (kind == destination_kind::lsl) {
        check_lsl_name(where);
        return where;
    }
    if (kind != destination_kind::serial) return tcp_address(where);
    if (where.starts_with('/')) return where;
    throw invalid_argument(fmt::format("'{}' is not the path of a device", where));
}

void read_into(destination& to, const scheme& form) {
    const std::size_t hash = std::min(to.text.find('#'), to.text.size());
    const std::string where = to.text.substr(form.prefix.size(), hash - form.prefix.size());
    to.address = address_of(to.kind, where);
    if (hash < to.text.size()) set_all(to, to.text.substr(hash + 1));
    if (to.kind == destination_kind::open_ephys_ttl && to.line == 0)
        throw invalid_argument("it names no line, such as #line=3");
}

}  // namespace

destination parse_destination(const std::string& text) {
    if (text == "-") return {.text = text};
    if (text.empty()) throw invalid_argument("expected a destination, found an empty text");
    const scheme* const form = scheme_of(text);
    if (form == nullptr) return {.kind = destination_kind::file, .text = text, .address = text};
    destination to{.kind = form->kind, .text = text};
    try {
        read_into(to, *form);
    } catch (const invalid_argument& error) {
        std::string problem = error.what();
        std::erase(problem, '`');
        throw invalid_argument(fmt::format("'{}': {}", text, problem));
    }
    return to;
}

std::vector<destination> parse_destinations(const std::vector<std::string>& texts) {
    if (texts.empty()) return {parse_destination("-")};
    std::vector<destination> all;
    for (const std::string& text : texts) {
        if (std::ranges::find(all, text, &destination::text) != all.end())
            throw invalid_argument(fmt::format("'{}' is given twice", text));
        all.push_back(parse_destination(text));
    }
    return all;
}

}  // namespace spikeweave::live
