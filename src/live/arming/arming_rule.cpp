#include "live/arming/arming_rule.hpp"

#include <map>
#include <utility>

#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

duration hop_of(const episode_window_options& windows) {
    return windows.hop == duration{0} ? windows.length : windows.hop;
}

}  // namespace

std::vector<episode> arming_rule::add(std::vector<episode> significant) {
    last_.push_back(std::move(significant));
    if (last_.size() > windows_) last_.pop_front();
    std::map<episode, std::uint64_t> windows_with;
    for (const auto& window : last_)
        for (const episode& one : window) ++windows_with[one];
    std::vector<episode> enough;
    for (const auto& [one, windows] : windows_with)
        if (windows >= needed_) enough.push_back(one);
    return enough;
}

void check_deciding_windows(const episode_window_options& windows) {
    if (windows.length == duration{0})
        throw invalid_argument("arm", "growing windows overlap, so they cannot decide what to arm");
    const duration hop = hop_of(windows);
    if (hop < windows.length && windows.length % hop != duration{0})
        throw invalid_argument(
            "arm", "`window` has to be a multiple of `hop`, so that windows follow on each other");
}

bool decides_arming(const window_bounds& window, const episode_window_options& windows) {
    return hop_of(windows) >= windows.length || window.begin % windows.length == duration{0};
}

std::int64_t due_after(const window_bounds& window, const episode_window_options& windows) {
    const std::int64_t hop = hop_of(windows).count();
    const std::int64_t end = window.end.count();
    return end > INT64_MAX - hop ? INT64_MAX : end + hop;
}

}  // namespace spikeweave::live
