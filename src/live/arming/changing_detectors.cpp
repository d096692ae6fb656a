#include "live/arming/changing_detectors.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::live {
namespace {

constexpr double us_in_minute = 6e7;

}  // namespace

// The units of an episode are numbered anew, so its detector is as small as the episode.
void changing_detectors::arm(std::size_t number, const episode& what, double per_minute,
                             std::int64_t from_us) {
    std::vector<unit_id> units(what.units);
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
    const auto number_in = [&](unit_id unit) {
        return unit_id{
            static_cast<std::uint32_t>(std::ranges::lower_bound(units, unit) - units.begin())};
    };
    armed_episode own{what};
    for (unit_id& unit : own.what.units) unit = number_in(unit);
    episode_detector detector({std::move(own)}, units.size(), options_);
    armed_one& armed = armed_.emplace(number, armed_one{units, std::move(detector)}).first->second;
    for (const unit_id unit : units) {
        if (to_index(unit) >= of_unit_.size()) of_unit_.resize(to_index(unit) + 1);
        auto& followers = of_unit_[to_index(unit)];
        followers.insert(std::ranges::upper_bound(followers, number, {}, &follower::number),
                         {number, &armed.detector, number_in(unit)});
    }
    if (number >= tallies_.size()) tallies_.resize(number + 1);
    tallies_[number].counts.expected_per_minute = per_minute;
    tallies_[number].since = from_us;
}

void changing_detectors::disarm(std::size_t number, std::int64_t from_us) {
    const auto armed = armed_.find(number);
    for (const unit_id unit : armed->second.units)
        std::erase_if(of_unit_[to_index(unit)],
                      [&](const follower& one) { return one.number == number; });
    armed_.erase(armed);
    settle(tallies_[number], from_us);
}

// After an epoch has ended, time goes on with the first spike of the next one.
void changing_detectors::observe(std::int64_t time_us) {
    if (!last_us_)
        for (const auto& [number, armed] : armed_)
            if (!tallies_[number].since) tallies_[number].since = time_us;
    last_us_ = time_us;
}

void changing_detectors::end_epoch() {
    for (auto& [number, armed] : armed_) {
        armed.detector.flush();
        if (last_us_) settle(tallies_[number], *last_us_);
    }
    last_us_.reset();
}

// The difference of two times may need 64 bits.
void changing_detectors::settle(tally& one, std::int64_t until_us) {
    if (one.since && until_us > *one.since) {
        const auto passed =
            static_cast<std::uint64_t>(until_us) - static_cast<std::uint64_t>(*one.since);
        const double minutes = static_cast<double>(passed) / us_in_minute;
        one.minutes += minutes;
        one.counts.expected += minutes * one.counts.expected_per_minute;
    }
    one.since.reset();
}

std::vector<armed_tally> changing_detectors::tallies() const {
    std::vector<armed_tally> all;
    for (const tally& one : tallies_) {
        armed_tally& counts = all.emplace_back(one.counts);
        if (one.minutes > 0) counts.expected_per_minute = counts.expected / one.minutes;
    }
    return all;
}

}  // namespace spikeweave::live
