#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes.hpp"
#include "spikeweave/mine/spade/detector.hpp"

namespace spikeweave::live {

/// A text as JSON; what is not UTF-8 is replaced.
std::string json_text(const std::string& text);

/// The names of some units. Units of a stream are numbered as they appear, so what is written is
/// ordered by their names instead, as in a file.
class named_units {
public:
    named_units() = default;
    /// Those of another list and these.
    named_units(const named_units& before, std::span<const std::string> more);
    const std::vector<std::string>& all() const { return names_; }
    std::size_t size() const { return names_.size(); }
    const std::string& operator[](unit_id unit) const { return names_[to_index(unit)]; }
    /// As JSON.
    const std::string& json(unit_id unit) const { return json_[to_index(unit)]; }

    /// The episodes by size, then by the natural order of their units, then by delays.
    std::vector<const counted_episode*> ordered(const episode_table& table) const;

private:
    void rank() const;
    bool comes_before(const episode& one, const episode& other) const;

    std::vector<std::string> names_{};
    std::vector<std::string> json_{};
    // Made when they are needed, because units are added where spikes are taken.
    mutable std::once_flag ranked_{};
    mutable std::vector<std::uint32_t> ranks_{};  // place of each unit in natural order
    mutable bool is_in_order_ = true;
};

/// The units so far, for threads of which one adds some.
class unit_names {
public:
    void add(std::span<const std::string> names);
    std::shared_ptr<const named_units> now() const;

private:
    mutable std::mutex mutex_{};
    std::shared_ptr<const named_units> units_ = std::make_shared<const named_units>();
};

/// An episode as it stands in a file of episodes: n0 4-6ms "unit b".
std::string armed_text(const episode& what, std::span<const std::string> names);
/// The units of a pattern, with the time after the first one: n0, n3 after 5 ms.
std::string armed_text(std::span<const pattern_spike> pattern, duration bin,
                       std::span<const std::string> names);

}  // namespace spikeweave::live
