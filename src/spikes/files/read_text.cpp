#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "io/file_error.hpp"
#include "spikes/files/text_rows.hpp"

namespace spikeweave::spikes {
namespace {

constexpr std::string_view span_key = " span_s:";
constexpr std::string_view silent_key = " unit_without_spikes: ";

// Reads what write_text stores in comments: the recorded span, and units without spikes.
std::optional<time_span> take_comments(const std::vector<std::string>& comments,
                                       spike_sequence_builder& builder, const reading& job) {
    std::optional<time_span> span;
    for (const std::string_view comment : comments) {
        if (comment.starts_with(silent_key)) {
            std::string_view name = comment.substr(silent_key.size());
            if (name.ends_with('\r')) name.remove_suffix(1);
            try {
                builder.unit(label_of(name));
            } catch (const invalid_argument& error) {
                throw io::file_error(job.path, "a comment '# unit_without_spikes: NAME'",
                                     error.what());
            }
        }
        if (!comment.starts_with(span_key)) continue;
        const auto fields = split_fields(comment.substr(span_key.size()), ' ');
        std::optional<std::int64_t> ends[2];
        std::size_t used[2] = {0, 0};
        for (std::size_t i = 0; i < 2 && fields.size() == 2; ++i)
            ends[i] = parse_decimal(fields[i], time_scale::seconds(), used[i]);
        if (!ends[0] || !ends[1] || used[0] != fields[0].size() || used[1] != fields[1].size() ||
            *ends[1] < *ends[0])
            throw io::file_error(job.path,
                                 fmt::format("found the comment {}, expected '# span_s: BEGIN END'",
                                             io::shown(comment)));
        const time_span said{duration{*ends[0]}, duration{*ends[1]}};
        if (span && *span != said)
            throw io::file_error(job.path,
                                 fmt::format("found the comment {} after another with other times, "
                                             "expected one",
                                             io::shown(comment)));
        span = said;
    }
    return span;
}

}  // namespace

spike_file read_text(const reading& job) {
    io::input_stream in(job.path);
    io::line_blocks blocks(in);
    const std::string_view first = without_byte_order_mark(blocks.next());
    const auto layout = find_text_layout(first, job);

    spike_file file;
    spike_sequence_builder builder;
    text_rows rows(layout.value_or(text_layout{}), job,
                   [&builder](std::string_view label) { return builder.unit(label_of(label)); });
    parse_text(blocks, in, first, rows, builder, job);
    const auto span = take_comments(rows.comments, builder, job);
    finish(file, builder, job, span ? &*span : nullptr, layout ? layout->trial_column : "");
    file.are_clusters = layout && layout->names_clusters;
    return file;
}

}  // namespace spikeweave::spikes
