#include "record/detect/flood_fill.hpp"

#include <algorithm>
#include <utility>

namespace spikeweave::record {

flood_fill::flood_fill(std::vector<std::vector<std::uint32_t>> neighbours,
                       std::uint32_t join_frames, std::int64_t longest_frames,
                       std::function<void(std::vector<channel_peak>&&)> found)
    : neighbours_(std::move(neighbours)),
      join_frames_(join_frames),
      longest_frames_(longest_frames),
      found_(std::move(found)),
      last_frame_(neighbours_.size(), 0),
      last_set_(neighbours_.size(), none) {}

void flood_fill::add(std::int64_t frame, std::span<const crossing> crossings) {
    close_before(frame);
    for (const crossing& each : crossings) {
        // The last crossing of each channel suffices: two crossings near this one are near each
        // other.
        std::uint32_t joined = set_near(frame, each.channel, none);
        for (const std::uint32_t other : neighbours_[each.channel])
            joined = set_near(frame, other, joined);
        if (joined == none) joined = new_set(frame);
        set& into = sets_[joined];
        into.last = frame;
        note(into, {each.channel, each.height, frame});
        last_frame_[each.channel] = frame;
        last_set_[each.channel] = joined;
    }
}

void flood_fill::finish() {
    while (!open_.empty()) close(open_.front());
}

void flood_fill::close_before(std::int64_t frame) {
    for (std::size_t i = 0; i < open_.size();) {
        if (sets_[open_[i]].last + join_frames_ < frame)
            close(open_[i]);
        else
            ++i;
    }
}

void flood_fill::close(std::uint32_t which) {
    open_.erase(std::find(open_.begin(), open_.end(), which));
    std::vector<channel_peak> peaks = std::move(sets_[which].peaks);
    sets_[which].peaks.clear();
    for (const channel_peak& peak : peaks)
        if (last_set_[peak.channel] == which) last_set_[peak.channel] = none;
    free_.push_back(which);
    found_(std::move(peaks));
}

std::uint32_t flood_fill::set_near(std::int64_t frame, std::uint32_t channel,
                                   std::uint32_t joined) {
    const std::uint32_t other = last_set_[channel];
    if (other == none || other == joined || last_frame_[channel] + join_frames_ < frame)
        return joined;
    if (frame - sets_[other].first >= longest_frames_) {
        ++cut_;
        close(other);
        return joined;
    }
    return joined == none ? other : join(joined, other);
}

// Merges the smaller set into the larger one.
std::uint32_t flood_fill::join(std::uint32_t a, std::uint32_t b) {
    if (sets_[a].peaks.size() < sets_[b].peaks.size()) std::swap(a, b);
    set& into = sets_[a];
    set& from = sets_[b];
    into.first = std::min(into.first, from.first);
    into.last = std::max(into.last, from.last);
    for (const channel_peak& peak : from.peaks) {
        note(into, peak);
        if (last_set_[peak.channel] == b) last_set_[peak.channel] = a;
    }
    from.peaks.clear();
    open_.erase(std::find(open_.begin(), open_.end(), b));
    free_.push_back(b);
    return a;
}

std::uint32_t flood_fill::new_set(std::int64_t frame) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(sets_.size()));
        sets_.emplace_back();
    }
    const std::uint32_t which = free_.back();
    free_.pop_back();
    sets_[which].first = frame;
    sets_[which].last = frame;
    open_.push_back(which);
    return which;
}

void flood_fill::note(set& into, const channel_peak& peak) {
    const auto at = std::lower_bound(
        into.peaks.begin(), into.peaks.end(), peak.channel,
        [](const channel_peak& each, std::uint32_t channel) { return each.channel < channel; });
    if (at == into.peaks.end() || at->channel != peak.channel) {
        into.peaks.insert(at, peak);
    } else if (peak.height > at->height || (peak.height == at->height && peak.frame < at->frame)) {
        *at = peak;
    }
}

}  // namespace spikeweave::record
