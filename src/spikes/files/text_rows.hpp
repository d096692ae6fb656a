#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "spikes/files/text_layout.hpp"
#include "spikeweave/spikes/spike_sequence.hpp"

namespace spikeweave::spikes {

/// Maps labels to units. Files have few labels and many spikes, so nearly all are found in a small
/// table keyed by the label's bytes.
class label_table {
public:
    /// @param resolve  returns the unit of a label that is not in the table; may throw
    explicit label_table(std::function<unit_id(std::string_view)> resolve)
        : resolve_(std::move(resolve)), slots_(slot_count) {}

    unit_id find(std::string_view label) {
        if (label.size() > sizeof(std::uint64_t)) return resolve_(label);
        std::uint64_t key = 0;
        for (const char c : label) key = key << 8 | static_cast<unsigned char>(c);
        slot& at = slots_[(key * 0x9E3779B97F4A7C15U) >> (64 - slot_bits)];
        if (at.key != key || at.size != label.size())
            at = {key, resolve_(label), static_cast<std::uint32_t>(label.size())};
        return at.unit;
    }

private:
    static constexpr int slot_bits = 13;
    static constexpr std::size_t slot_count = std::size_t{1} << slot_bits;
    struct slot {
        std::uint64_t key = 0;
        unit_id unit{};
        std::uint32_t size = UINT32_MAX;
    };

    std::function<unit_id(std::string_view)> resolve_;
    std::vector<slot> slots_;
};

/// Marks a label that is not a unit: its times are added to `text_rows::stimulus_us`.
inline constexpr unit_id stimulus_marker{UINT32_MAX};

/// Parses the rows of a text file, block by block.
class text_rows {
public:
    text_rows(text_layout layout, const reading& job,
              std::function<unit_id(std::string_view)> resolve)
        : layout_(std::move(layout)), job_(&job), labels_(std::move(resolve)) {}

    /// Parses whole lines; `lines_before` is the number of lines before this block.
    /// @param spikes  a `spike_sequence_builder` or `spike_block`, to which the spikes are appended
    /// @throws io_error
    template <class Spikes>
    void parse(std::string_view block, std::uint64_t lines_before, Spikes& spikes);

    std::vector<std::int64_t> stimulus_us{};
    /// Comment lines without '#'. After the first thousand, only those that spikeweave writes.
    std::vector<std::string> comments{};

private:
    void take_comment(std::string_view line);
    [[noreturn]] void fail(std::string_view line, std::uint64_t number) const;

    text_layout layout_;
    const reading* job_;
    label_table labels_;
};

/// The name of the unit that a field of text stands for. @throws invalid_argument
std::string label_of(std::string_view field);

/// Parses a whole file in the layout. Stores comments and stimulus markers in `rows`.
void parse_text(io::line_blocks& blocks, io::input_stream& in, std::string_view first_block,
                text_rows& rows, spike_sequence_builder& builder, const reading& job);

}  // namespace spikeweave::spikes
