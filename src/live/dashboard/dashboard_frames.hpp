#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "live/dashboard/session_news.hpp"
#include "live/metrics/session_monitor.hpp"

namespace spikeweave::live {

/// Makes the messages of a dashboard (docs/formats.md), from the news of a session.
class dashboard_frames {
public:
    /// @param armed  from the beginning
    explicit dashboard_frames(std::vector<armed_units> armed) : armed_(std::move(armed)) {}

    /// The next frame: a text in JSON, and how often each unit fired in each column.
    std::string next(session_news news, const std::shared_ptr<const shown_window>& window,
                     const monitored_state& state);
    /// The last frame again, with the columns and counts of the last minute: the first one for a
    /// page that is opened while the session runs. @pre `next` was called.
    std::string opening() const;
    /// The units and the armed episodes, to which frames refer, as JSON.
    std::string description() const;

private:
    struct columns {
        std::int64_t first = 0;
        std::size_t units = 0;
        std::string counts{};  // of all units, column by column
        std::size_t number = 0;

        std::int64_t end() const { return first + static_cast<std::int64_t>(number); }
    };
    columns take_columns(const session_news& news, const monitored_state& state);
    void keep(const columns& newest, const std::vector<shown_counts>& counted);
    std::int64_t most_columns(std::size_t bytes, std::size_t number) const;

    std::vector<armed_units> armed_;
    std::vector<std::string> units_{};
    std::uint64_t number_ = 0;
    std::uint64_t epoch_ = 0;
    std::vector<spike_cell> cells_{};     // those of columns that are not complete
    std::optional<std::int64_t> next_{};  // the next column of the epoch
    std::vector<shown_detection> detections_{};
    std::deque<columns> kept_{};  // of the epoch, for `opening`
    std::vector<shown_counts> counted_{};
    std::string last_{};  // the text of the last frame
};

}  // namespace spikeweave::live
