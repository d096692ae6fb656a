#include "mine/episodes/blocks/recording_pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/stop.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::episodes {
namespace {

constexpr std::uint32_t left_out = UINT32_MAX;

}  // namespace

checked_blocks::checked_blocks(spike_blocks& recording, const execution& run)
    : recording_(recording), run_(run) {
    recording_.rewind();
}

const spike_block* checked_blocks::next() {
    core::throw_if_stopped(run_.stop);
    if (!recording_.next(block_)) return nullptr;
    last_of_unit_.resize(recording_.unit_names().size(), INT64_MIN);
    if (block_.times_us.size() != block_.units.size())
        throw invalid_argument(fmt::format("a block has {} times for {} units of spikes",
                                           block_.times_us.size(), block_.units.size()));
    std::size_t kept = 0;
    for (std::size_t i = 0; i < block_.times_us.size(); ++i, ++read_) {
        const std::int64_t time = block_.times_us[i];
        const unit_id unit = block_.units[i];
        if (time < last_us_)
            throw invalid_argument(
                fmt::format("spike {} is earlier than the one before it", read_));
        if (to_index(unit) >= last_of_unit_.size())
            throw invalid_argument(
                fmt::format("spike {} belongs to unit {}, but there are {} units", read_,
                            to_index(unit), last_of_unit_.size()));
        last_us_ = time;
        block_.times_us[kept] = time;
        block_.units[kept] = unit;
        kept += std::exchange(last_of_unit_[to_index(unit)], time) == time ? 0 : 1;
    }
    duplicates_ += block_.times_us.size() - kept;
    block_.times_us.resize(kept);
    block_.units.resize(kept);
    return &block_;
}

recording_survey survey(spike_blocks& recording, const execution& run) {
    recording_survey known;
    std::vector<std::uint64_t> spikes_of;
    checked_blocks blocks(recording, run);
    std::optional<std::int64_t> first;
    std::int64_t last = 0;
    while (const spike_block* const block = blocks.next()) {
        spikes_of.resize(recording.unit_names().size());
        for (const unit_id unit : block->units) ++spikes_of[to_index(unit)];
        if (block->times_us.empty()) continue;
        if (!first) first = block->times_us.front();
        last = block->times_us.back();
        known.spikes += block->times_us.size();
        if (run.on_progress) run.on_progress({"counting spikes", known.spikes, 0});
    }
    if (first) known.span = {duration{*first}, duration{last}};
    known.duplicates = blocks.duplicates();
    const std::vector<std::string>& names = recording.unit_names();
    spikes_of.resize(names.size());
    known.rank.resize(names.size());
    for (const std::uint32_t unit : natural_order(names)) {
        known.rank[unit] = static_cast<std::uint32_t>(known.unit_names.size());
        known.unit_names.push_back(names[unit]);
        known.spikes_of_units.push_back(spikes_of[unit]);
    }
    return known;
}

recording_pieces::recording_pieces(spike_blocks& recording, const recording_survey& known,
                                   std::span<const unit_id> units, duration reach,
                                   std::size_t at_once, const execution& run)
    : blocks_(recording, run),
      known_(known),
      taken_as_(known.rank.size(), left_out),
      reach_us_(reach.count()),
      at_once_(at_once) {
    std::vector<bool> wanted(known.rank.size());
    for (const unit_id unit : units) wanted[to_index(unit)] = true;
    for (std::size_t u = 0; u < known.rank.size(); ++u)
        if (wanted[known.rank[u]]) taken_as_[u] = known.rank[u];
}

// Reads until so many spikes are held; false if the recording has no more.
bool recording_pieces::fill(std::size_t size) {
    while (times_us_.size() < size) {
        const spike_block* const block = blocks_.next();
        if (block == nullptr) return false;
        read_ += block->times_us.size();
        for (std::size_t i = 0; i < block->times_us.size(); ++i) {
            const std::size_t unit = to_index(block->units[i]);
            if (unit >= taken_as_.size())
                throw io_error("the recording has changed while it was read");
            if (taken_as_[unit] == left_out) continue;
            times_us_.push_back(block->times_us[i]);
            units_.push_back(unit_id{taken_as_[unit]});
        }
    }
    return true;
}

void recording_pieces::forget_before(std::int64_t time_us) {
    const auto end = times_us_.begin() + static_cast<std::ptrdiff_t>(counted_);
    const auto first = std::lower_bound(times_us_.begin(), end, time_us) - times_us_.begin();
    times_us_.erase(times_us_.begin(), times_us_.begin() + first);
    units_.erase(units_.begin(), units_.begin() + first);
    counted_ -= static_cast<std::size_t>(first);
    offset_ += first;
}

std::optional<recording_piece> recording_pieces::next() {
    fill(counted_ + 1);
    if (times_us_.size() == counted_) return {};
    forget_before(times_us_[counted_] - reach_us_);
    fill(counted_ + std::max(at_once_, counted_));
    const std::size_t end = std::min(times_us_.size(), counted_ + std::max(at_once_, counted_));
    const auto last = static_cast<std::ptrdiff_t>(end);
    recording_piece piece{
        spike_sequence({times_us_.begin(), times_us_.begin() + last},
                       {units_.begin(), units_.begin() + last}, known_.unit_names,
                       {duration{times_us_.front()}, duration{times_us_[end - 1]}}),
        {static_cast<std::uint32_t>(counted_), offset_}};
    counted_ = end;
    return piece;
}

}  // namespace spikeweave::episodes
