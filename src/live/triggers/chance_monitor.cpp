#include "live/triggers/chance_monitor.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "spikeweave/assess/episodes/significance.hpp"

namespace spikeweave::live {
namespace {

constexpr std::uint32_t not_armed = UINT32_MAX;
constexpr duration tick_of_model = std::chrono::milliseconds{1};
constexpr double us_per_minute = 6e7;

episode detected_part(const armed_episode& armed) {
    const auto& [what, fire_at] = armed;
    if (fire_at == 0) return what;
    const auto size = static_cast<std::ptrdiff_t>(fire_at);
    return {{what.units.begin(), what.units.begin() + size},
            {what.delays.begin(), what.delays.begin() + size - 1}};
}

// A window may begin in any bin, and holds a pattern if each of its units fires in its bin.
void add_patterns(const spike_sequence& spikes, const armed_patterns& armed,
                  std::vector<double>& expected) {
    if (armed.patterns.empty()) return;
    std::vector<episode> units(spikes.unit_count());
    for (std::uint32_t unit = 0; unit < units.size(); ++unit) units[unit].units = {unit_id{unit}};
    const auto in_bin = independent_models(spikes, units, armed.bin);
    for (const std::vector<pattern_spike>& pattern : armed.patterns) {
        double windows = in_bin.front().ticks;
        for (const pattern_spike& spike : pattern)
            windows *= in_bin[to_index(spike.unit)].start_probability;
        expected.push_back(windows);
    }
}

}  // namespace

std::vector<double> expected_by_chance(const spike_sequence& spikes,
                                       std::span<const armed_episode> episodes,
                                       const armed_patterns& patterns) {
    std::vector<episode> parts;
    for (const armed_episode& one : episodes) parts.push_back(detected_part(one));
    std::vector<double> expected;
    for (const occurrence_model& model : independent_models(spikes, parts, tick_of_model))
        expected.push_back(model.expected_count());
    add_patterns(spikes, patterns, expected);
    return expected;
}

chance_monitor::chance_monitor(std::vector<armed_episode> episodes, armed_patterns patterns,
                               std::size_t unit_count, duration interval)
    : episodes_(std::move(episodes)),
      patterns_(std::move(patterns)),
      number_of_unit_(unit_count, not_armed),
      interval_us_(static_cast<std::uint64_t>(interval.count())),
      expected_(episodes_.size() + patterns_.patterns.size()) {
    const auto renumber = [&](unit_id& unit) {
        std::uint32_t& number = number_of_unit_[to_index(unit)];
        if (number == not_armed) {
            number = static_cast<std::uint32_t>(names_.size());
            names_.push_back(std::to_string(number));
        }
        unit = unit_id{number};
    };
    for (armed_episode& one : episodes_)
        for (unit_id& unit : one.what.units) renumber(unit);
    for (auto& pattern : patterns_.patterns)
        for (pattern_spike& spike : pattern) renumber(spike.unit);
}

// The differences of two times may need 64 bits.
bool chance_monitor::add(std::int64_t time_us, unit_id unit) {
    if (expected_.empty()) return false;
    if (!has_begun_) begin_us_ = time_us;
    has_begun_ = true;
    std::uint64_t passed =
        static_cast<std::uint64_t>(time_us) - static_cast<std::uint64_t>(begin_us_);
    const bool has_ended = passed >= interval_us_;
    if (has_ended) {
        measure(interval_us_);
        // Nothing is expected in intervals without a spike.
        const std::uint64_t empty = passed / interval_us_ - 1;
        minutes_ += static_cast<double>(empty) * static_cast<double>(interval_us_) / us_per_minute;
        begin_us_ = time_us - static_cast<std::int64_t>(passed % interval_us_);
        passed %= interval_us_;
    }
    last_us_ = passed;
    if (to_index(unit) >= number_of_unit_.size()) return has_ended;
    const std::uint32_t number = number_of_unit_[to_index(unit)];
    if (number == not_armed) return has_ended;
    times_.push_back(static_cast<std::int64_t>(passed));
    units_.push_back(unit_id{number});
    return has_ended;
}

void chance_monitor::end_epoch() {
    if (has_begun_) measure(last_us_ + 1);
    has_begun_ = false;
}

void chance_monitor::measure(std::uint64_t length_us) {
    const auto length = static_cast<std::int64_t>(length_us);
    const spike_sequence spikes(std::move(times_), std::move(units_), names_,
                                {duration{0}, duration{length - 1}});
    times_.clear();
    units_.clear();
    const double minutes = static_cast<double>(length) / us_per_minute;
    const auto end = static_cast<std::int64_t>(static_cast<std::uint64_t>(begin_us_) + length_us);
    last_ = {begin_us_, end, expected_by_chance(spikes, episodes_, patterns_)};
    for (std::size_t i = 0; i < expected_.size(); ++i) {
        expected_[i] += last_.per_minute[i];
        last_.per_minute[i] /= minutes;
    }
    minutes_ += minutes;
}

}  // namespace spikeweave::live
