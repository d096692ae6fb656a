#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "live/session/session_options.hpp"
#include "live/sinks/sink.hpp"

namespace spikeweave::live {

/// Notices which units of what is armed from the beginning have not fired: their names may be
/// misspelled, which a stream, whose units may appear at any time, cannot tell.
class silent_units : public sink {
public:
    explicit silent_units(const session_options& analysis) {
        for (const armed_episode& one : analysis.armed)
            silent_.insert(one.what.units.begin(), one.what.units.end());
        for (const auto& pattern : analysis.patterns.patterns)
            for (const auto& item : pattern) silent_.insert(item.unit);
    }

    void take(const event& what) override {
        what.visit(handlers{[&](const units_added& more) {
                                names_.insert(names_.end(), more.names.begin(), more.names.end());
                            },
                            [&](const spikes_accepted& more) { remove(more.spikes); }});
    }

    /// A full sentence; empty if all have fired, or nothing came at all.
    std::string warning() const {
        constexpr std::ptrdiff_t most_named = 5;
        if (silent_.empty() || !has_spikes_) return {};
        std::string list;
        std::ptrdiff_t named = 0;
        for (const unit_id unit : silent_) {
            if (named++ == most_named) break;
            list += fmt::format("{}'{}'", list.empty() ? "" : ", ", names_[to_index(unit)]);
        }
        if (std::ssize(silent_) > most_named)
            list += fmt::format(" and {} more", std::ssize(silent_) - most_named);
        return fmt::format("{} of armed episodes and patterns {} not fired: {}",
                           silent_.size() == 1 ? "a unit" : "units",
                           silent_.size() == 1 ? "has" : "have", list);
    }

private:
    void remove(std::span<const spike_event> spikes) {
        has_spikes_ |= !spikes.empty();
        if (silent_.empty()) return;
        for (const spike_event& one : spikes) silent_.erase(one.unit);
    }

    std::set<unit_id> silent_{};
    std::vector<std::string> names_{};
    bool has_spikes_ = false;
};

}  // namespace spikeweave::live
