#include "live/sources/spikeglx_client.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

#include "core/text.hpp"
#include "io/file_error.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 17;
// Each contact has four.
constexpr std::size_t most_lines = 8 * spikeglx_client::most_channels;
constexpr int imec = 2;  // the kind of a stream

static_assert(std::endian::native == std::endian::little);

template <class Number>
std::optional<Number> number_of(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    if constexpr (std::is_floating_point_v<Number>) {
        const auto [stopped, error] = fast_float::from_chars(text.data(), end, value);
        if (error != std::errc{} || stopped != end || !std::isfinite(value)) return {};
    } else {
        const auto [stopped, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc{} || stopped != end) return {};
    }
    return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words = core::split(line, " ");
    std::erase(words, "");
    return words;
}

[[noreturn]] void cannot_read(std::string_view command, std::string_view found,
                              std::string_view expected) {
    throw spikeglx_unreadable(fmt::format("the answer of SpikeGLX to {} was {}, expected {}",
                                          command, io::shown(found), expected));
}

// The channel and what is said of it in a line as "ch5_x=27".
struct contact_line {
    std::uint64_t channel = 0;
    char what = ' ';
    double value = 0;
};

// Null: the line is of something else.
std::optional<contact_line> contact_in(std::string_view line) {
    if (!line.starts_with("ch")) return {};
    const std::size_t end = line.find('_');
    if (end == std::string_view::npos || line.size() < end + 4 || line[end + 2] != '=') return {};
    const auto channel = number_of<std::uint64_t>(line.substr(2, end - 2));
    const auto value = number_of<double>(line.substr(end + 3));
    if (!channel || !value) return {};
    return contact_line{*channel, line[end + 1], *value};
}

}  // namespace

void spikeglx_client::send(const std::string& command) {
    received_.clear();
    begin_ = 0;
    bytes_->send(command + '\n');
}

void spikeglx_client::fill() {
    constexpr std::size_t at_once = std::size_t{1} << 16;
    received_.erase(0, begin_);
    begin_ = 0;
    const std::size_t size = received_.size();
    received_.resize(size + at_once);
    received_.resize(size + bytes_->receive(std::span(received_).subspan(size)));
}

// Without its end.
std::string spikeglx_client::next_line() {
    std::size_t end = received_.find('\n', begin_);
    while (end == std::string::npos) {
        if (received_.size() - begin_ > longest_line)
            cannot_read("a command", "a line without an end", "lines");
        fill();
        end = received_.find('\n', begin_);
    }
    std::string line(core::trimmed(std::string_view(received_).substr(begin_, end - begin_)));
    begin_ = end + 1;
    constexpr std::string_view error = "ERROR";
    if (line.starts_with(error))
        throw spikeglx_refusal(
            core::printable_text(core::trimmed(std::string_view(line).substr(error.size()))));
    return line;
}

void spikeglx_client::take(std::span<char> into) {
    const std::size_t there = std::min(into.size(), received_.size() - begin_);
    std::copy_n(received_.begin() + static_cast<std::ptrdiff_t>(begin_), there, into.begin());
    begin_ += there;
    for (into = into.subspan(there); !into.empty();) into = into.subspan(bytes_->receive(into));
}

std::vector<std::string> spikeglx_client::lines(const std::string& command) {
    send(command);
    std::vector<std::string> out;
    for (std::string line = next_line(); line != "OK"; line = next_line()) {
        if (out.size() == most_lines) cannot_read(command, "too many lines", "OK");
        if (!line.empty()) out.push_back(std::move(line));
    }
    return out;
}

std::string spikeglx_client::only_line(const std::string& command) {
    std::vector<std::string> found = lines(command);
    if (found.size() != 1) cannot_read(command, fmt::format("{} lines", found.size()), "one line");
    return std::move(found.front());
}

// At least so many.
std::vector<double> spikeglx_client::numbers(const std::string& command, std::size_t count) {
    const std::string line = only_line(command);
    std::vector<double> out;
    for (const std::string_view word : words_of(line))
        if (const auto number = number_of<double>(word)) out.push_back(*number);
    if (out.size() < count || out.size() != words_of(line).size())
        cannot_read(command, line, fmt::format("{} numbers", count));
    return out;
}

std::uint64_t spikeglx_client::whole_number(const std::string& command) {
    const std::string line = only_line(command);
    const auto number = number_of<std::uint64_t>(line);
    if (!number || *number > static_cast<std::uint64_t>(most_frames))
        cannot_read(command, line, "a whole number");
    return *number;
}

bool spikeglx_client::is_running() {
    return whole_number("ISRUNNING") != 0;
}

std::uint64_t spikeglx_client::probe_count() {
    return whole_number(fmt::format("GETSTREAMNP {}", imec));
}

double spikeglx_client::rate_hz(std::uint64_t probe) {
    return numbers(fmt::format("GETSTREAMSAMPLERATE {} {}", imec, probe), 1).front();
}

std::uint64_t spikeglx_client::spike_channels(std::uint64_t probe) {
    const std::string command = fmt::format("GETSTREAMACQCHANS {} {}", imec, probe);
    const double count = numbers(command, 3).front();
    if (!(count >= 0 && count <= static_cast<double>(most_channels)))
        cannot_read(command, fmt::format("{} channels", count),
                    fmt::format("at most {}", most_channels));
    return static_cast<std::uint64_t>(count);
}

std::vector<std::uint64_t> spikeglx_client::saved_channels(std::uint64_t probe) {
    const std::string command = fmt::format("GETSTREAMSAVECHANS {} {}", imec, probe);
    const std::string line = only_line(command);
    std::vector<std::uint64_t> out;
    for (const std::string_view word : words_of(line)) {
        const auto number = number_of<std::uint64_t>(word);
        if (!number || (!out.empty() && *number <= out.back()))
            cannot_read(command, word, "channels in ascending order");
        out.push_back(*number);
    }
    return out;
}

// The multiplier that SpikeGLX gives has six digits, and its files have the numbers it is made of.
double spikeglx_client::gain_uv(std::uint64_t probe, std::uint64_t channel) {
    const std::string range = fmt::format("GETSTREAMVOLTAGERANGE {} {}", imec, probe);
    const double volts = numbers(range, 2)[1];
    const double steps = numbers(fmt::format("GETSTREAMMAXINT {} {}", imec, probe), 1).front();
    const double gain = numbers(fmt::format("GETIMECCHANGAINS {} {}", probe, channel), 2).front();
    const double out = 1e6 * volts / steps / gain;
    if (!(out > 0 && std::isfinite(out)))
        cannot_read(range, fmt::format("{} V of {} steps and a gain of {}", volts, steps, gain),
                    "numbers above 0");
    return out;
}

std::vector<spikeglx_contact> spikeglx_client::contacts(std::uint64_t probe) {
    constexpr double most_shanks = 1000;
    const std::string command = fmt::format("GETGEOMMAP {}", probe);
    std::vector<spikeglx_contact> out;
    double pitch_um = 0;
    for (const std::string& line : lines(command)) {
        constexpr std::string_view pitch = "head_shankPitch=";
        if (line.starts_with(pitch)) {
            const auto found = number_of<double>(std::string_view(line).substr(pitch.size()));
            if (!found) cannot_read(command, line, "a distance");
            pitch_um = *found;
        }
        const auto of = contact_in(line);
        if (!of) continue;
        if (of->channel >= most_channels) cannot_read(command, line, "a channel");
        if (out.size() <= of->channel) out.resize(of->channel + 1);
        spikeglx_contact& contact = out[of->channel];
        if (of->what == 'x') contact.x_um = of->value;
        if (of->what == 'z') contact.y_um = of->value;
        if (of->what != 's') continue;
        if (!(of->value >= 0 && of->value < most_shanks)) cannot_read(command, line, "a shank");
        contact.shank = static_cast<std::uint32_t>(of->value);
    }
    for (spikeglx_contact& each : out) each.x_um += pitch_um * each.shank;
    return out;
}

std::int64_t spikeglx_client::frame_count(std::uint64_t probe) {
    return static_cast<std::int64_t>(
        whole_number(fmt::format("GETSTREAMSAMPLECOUNT {} {}", imec, probe)));
}

spikeglx_frames spikeglx_client::fetch(std::uint64_t probe, std::int64_t first, std::uint64_t most,
                                       std::string_view channels) {
    send(fmt::format("FETCH {} {} {} {} {} 1", imec, probe, first, most, channels));
    const std::string head = next_line();
    const std::vector<std::string_view> words = words_of(head);
    constexpr std::string_view prefix = "uint64(";
    const bool is_head = words.size() == 4 && words[0] == "BINARY_DATA" &&
                         words[3].starts_with(prefix) && words[3].ends_with(')');
    const auto of = is_head ? number_of<std::uint64_t>(words[1]) : std::nullopt;
    const auto frames = is_head ? number_of<std::uint64_t>(words[2]) : std::nullopt;
    const auto at = is_head ? number_of<std::int64_t>(words[3].substr(
                                  prefix.size(), words[3].size() - prefix.size() - 1))
                            : std::nullopt;
    if (!of || !frames || !at || *frames > most || *at < 0 || *at > most_frames)
        cannot_read("FETCH", head, "BINARY_DATA CHANNELS FRAMES uint64(FIRST)");
    if (const std::ptrdiff_t asked = std::ranges::count(channels, '#');
        *of != static_cast<std::uint64_t>(asked))
        throw io_error(fmt::format("SpikeGLX sends {} channels, expected {}", *of, asked));
    spikeglx_frames out{.first = *at};
    out.counts.resize(*of * *frames);
    take({reinterpret_cast<char*>(out.counts.data()), out.counts.size() * sizeof(std::int16_t)});
    if (const std::string end = next_line(); end != "OK") cannot_read("FETCH", end, "OK");
    return out;
}

}  // namespace spikeweave::live
