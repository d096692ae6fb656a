#pragma once

#include <span>
#include <string>
#include <vector>

#include "spikeweave/mine/episodes.hpp"

namespace spikeweave::live {

/// The names of the units so far. Units of a stream are numbered as they appear, so what is written
/// is ordered by their names instead, as in a file.
class unit_names {
public:
    void add(std::span<const std::string> names);
    const std::vector<std::string>& all() const { return names_; }
    std::size_t size() const { return names_.size(); }

    /// The episodes by size, then by the natural order of their units, then by delays.
    std::vector<const counted_episode*> ordered(const episode_table& table) const;

private:
    bool comes_before(const episode& one, const episode& other) const;

    std::vector<std::string> names_{};
    std::vector<std::uint32_t> ranks_{};  // place of each unit in natural order
    bool is_in_order_ = true;
};

}  // namespace spikeweave::live
