#pragma once

// Random streams and what a session makes of them, for the tests of its file.

#include <random>
#include <string>
#include <vector>

#include "live/log/session_file.hpp"
#include "live/log/session_log.hpp"
#include "live/session/session.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// What is in the file of a session, read at once.
struct file_content {
    std::vector<source_block> blocks{};
    std::vector<recorded_detection> detections{};
    std::vector<recorded_window> windows{};

    friend bool operator==(const file_content&, const file_content&) = default;
};

inline file_content content_of(const std::filesystem::path& path) {
    session_file file(path);
    file_content content;
    while (auto read = file.next_block()) content.blocks.push_back(std::move(read->block));
    while (auto read = file.next_detection()) content.detections.push_back(std::move(*read));
    while (auto read = file.next_window()) content.windows.push_back(std::move(*read));
    return content;
}

inline session_header header_of(order_options order = {}) {
    return {{"a", "b", "µ c"},
            {.order = order,
             .armed = {{{{unit_id{0}, unit_id{1}}, {{duration{0}, duration{5}}}}},
                       {{{unit_id{0}, unit_id{1}, unit_id{2}},
                         {{duration{0}, duration{9}}, {duration{1}, duration{9}}}},
                        2}},
             .windows = episode_window_options{
                 duration{20},
                 duration{10},
                 {.delays = {{duration{0}, duration{5}}, {duration{5}, duration{9}}},
                  .min_count = 1,
                  .max_size = 3}}}};
}

/// The same with patterns and limits of triggers.
inline session_header header_with_triggers(order_options order = {}) {
    session_header header = header_of(order);
    header.analysis.patterns = {duration{4}, {{{unit_id{0}, 0}, {unit_id{2}, 2}}, {{{}, 0}}}};
    header.analysis.triggers = {.hold_off = duration{15},
                                .max_triggers = event_rate{3, duration{40}},
                                .mute_above = event_rate{5, duration{9}},
                                .mute_window = duration{9}};
    return header;
}

/// Blocks with losses, late spikes, new units and new epochs.
inline std::vector<source_block> random_stream(std::mt19937_64& random, std::size_t count) {
    const auto below = [&](std::uint64_t bound) { return random() % bound; };
    std::vector<source_block> blocks;
    std::int64_t now = -20;
    std::size_t units = 3;
    for (std::size_t i = 0; i < count; ++i) {
        source_block& block = blocks.emplace_back();
        if (below(12) == 0) block.new_units = {"new " + std::to_string(units++)};
        if (i > 0 && below(20) == 0) {
            block.begins_epoch = true;
            now = static_cast<std::int64_t>(below(50)) - 25;
        }
        if (below(10) == 0) block.missing = 1 + below(3);
        if (below(15) == 0) block.unreadable = 1;
        if (below(15) == 0) block.repeated = block.belated = 1;
        for (std::uint64_t k = below(6); k-- > 0;) {
            now += static_cast<std::int64_t>(below(4));
            const auto late = static_cast<std::int64_t>(below(8) == 0 ? below(8) : 0);
            block.spikes.push_back({now - late, unit_id{static_cast<std::uint32_t>(
                                                    below(units + (below(30) == 0 ? 1 : 0)))}});
        }
        if (below(3) == 0) block.watermark_us = now - static_cast<std::int64_t>(below(10));
    }
    return blocks;
}

inline order_options random_policy(std::mt19937_64& random) {
    return {static_cast<order_policy>(random() % 3),
            duration{static_cast<std::int64_t>(random() % 10)},
            duration{static_cast<std::int64_t>(random() % 10)}};
}

}  // namespace spikeweave::live
