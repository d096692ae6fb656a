#include "live/sinks/unit_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::live {
namespace {

std::string word_of(const std::string& name) {
    if (name.find_first_of(" \t\"\\#") == std::string::npos) return name;
    std::ostringstream word;
    word << std::quoted(name);
    return word.str();
}

}  // namespace

std::string json_text(const std::string& text) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    return nlohmann::json(text).dump(-1, ' ', false, replace);
}

named_units::named_units(const named_units& before, std::span<const std::string> more)
    : names_(before.names_), json_(before.json_) {
    for (const std::string& name : more) {
        names_.push_back(name);
        json_.push_back(json_text(name));
    }
}

void named_units::rank() const {
    std::vector<std::uint32_t> order(names_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t one, std::uint32_t other) {
        return natural_less(names_[one], names_[other]);
    });
    is_in_order_ = std::is_sorted(order.begin(), order.end());
    ranks_.resize(order.size());
    for (std::uint32_t place = 0; place < order.size(); ++place) ranks_[order[place]] = place;
}

bool named_units::comes_before(const episode& one, const episode& other) const {
    if (one.size() != other.size()) return one.size() < other.size();
    const auto [left, right] =
        std::mismatch(one.units.begin(), one.units.end(), other.units.begin());
    if (left != one.units.end()) return ranks_[to_index(*left)] < ranks_[to_index(*right)];
    return one.delays < other.delays;
}

std::vector<const counted_episode*> named_units::ordered(const episode_table& table) const {
    std::call_once(ranked_, [this] { rank(); });
    std::vector<const counted_episode*> all;
    all.reserve(table.episodes.size());
    for (const counted_episode& one : table.episodes) all.push_back(&one);
    if (!is_in_order_)
        std::sort(all.begin(), all.end(), [&](const auto* one, const auto* other) {
            return comes_before(one->what, other->what);
        });
    return all;
}

// Those that are read by others stay as they are.
void unit_names::add(std::span<const std::string> names) {
    auto units = std::make_shared<const named_units>(*units_, names);
    const std::lock_guard lock(mutex_);
    units_ = std::move(units);
}

std::shared_ptr<const named_units> unit_names::now() const {
    const std::lock_guard lock(mutex_);
    return units_;
}

std::string armed_text(const episode& what, std::span<const std::string> names) {
    std::string text = word_of(names[to_index(what.units.front())]);
    for (std::size_t step = 0; step < what.delays.size(); ++step)
        fmt::format_to(std::back_inserter(text), " {} {}", format_delays({&what.delays[step], 1}),
                       word_of(names[to_index(what.units[step + 1])]));
    return text;
}

std::string armed_text(std::span<const pattern_spike> pattern, duration bin,
                       std::span<const std::string> names) {
    std::vector<std::pair<duration, std::string_view>> spikes;
    for (const auto& [unit, lag] : pattern) spikes.emplace_back(bin * lag, names[to_index(unit)]);
    return core::pattern_text(std::move(spikes));
}

}  // namespace spikeweave::live
