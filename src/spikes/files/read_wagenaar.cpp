#include <fmt/format.h>

#include <charconv>

#include "io/file_error.hpp"
#include "spikes/files/text_rows.hpp"

namespace spikeweave::spikes {

// The array of 60 electrodes by Multi Channel Systems; number 60 marks the stimulus.
spike_file read_wagenaar(const reading& job) {
    constexpr unsigned stimulus_channel = 60;
    io::input_stream in(job.path);
    io::line_blocks blocks(in);
    const std::string_view first = blocks.next();
    text_layout layout;
    layout.delimiter = ' ';
    if (!job.how.time_unit.empty()) layout.scale = time_scale::from(job.how.time_unit);

    spike_file file;
    spike_sequence_builder builder;
    text_rows rows(layout, job, [&builder](std::string_view label) {
        unsigned channel = 0;
        const char* const label_end = label.data() + label.size();
        const auto [end, code] = std::from_chars(label.data(), label_end, channel);
        if (code != std::errc{} || end != label_end || channel > stimulus_channel)
            throw invalid_argument(
                fmt::format("found channel {}, expected 0 to 60", io::shown(label)));
        return channel == stimulus_channel ? stimulus_marker : builder.unit(label);
    });
    parse_text(blocks, in, first, rows, builder, job);
    file.stimulus_us = std::move(rows.stimulus_us);
    finish(file, builder, job);
    file.spikes.set_places(places_of_channels(file.spikes.unit_names()));
    return file;
}

}  // namespace spikeweave::spikes
