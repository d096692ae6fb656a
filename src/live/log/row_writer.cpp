#include "live/log/row_writer.hpp"

#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "io/little_endian.hpp"
#include "io/session_schema.hpp"
#include "live/log/entries.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {

row_writer::row_writer(const std::filesystem::path& path, const session_header& header,
                       bool survive_power_failure)
    : file_(io::open_database(path, io::database::access::create)),
      part_{.order = event_order(header.analysis.order)} {
    const int version =
        header.analysis.arming ? io::session_version_with_arming : io::session_version;
    // Made before there may be no memory for it.
    const std::array<std::filesystem::path, 4> files{
        path, path.string() + "-journal", path.string() + "-shm", path.string() + "-wal"};
    try {
        prepare_file(survive_power_failure);
        begin();
        io::create_session_tables(*file_, version);
        write_header(*file_, header);
        file_->run("COMMIT");
    } catch (...) {  // an incomplete file is not a session
        for (const std::filesystem::path& file : files) ::unlink(file.c_str());
        throw;
    }
    part_.unit_names = header.unit_names;
    prepare_statements(version);
}

row_writer::row_writer(const std::filesystem::path& path, analysed_spikes part,
                       bool survive_power_failure)
    : file_(io::open_database(path, io::database::access::write)), part_(std::move(part)) {
    const int version = io::check_session_tables(*file_);
    prepare_file(survive_power_failure);
    prepare_statements(version);
}

// Others can read while this one writes.
void row_writer::prepare_file(bool survive_power_failure) {
    file_->run("PRAGMA journal_mode = WAL");
    file_->run(survive_power_failure ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

void row_writer::prepare_statements(int version) {
    for (const std::string& name : part_.unit_names) names_as_json_.push_back(json_of_name(name));
    block_ = file_->prepare("INSERT INTO input VALUES (?,?,?,?,?,?,?,?,?,?,?)");
    unit_ = file_->prepare("INSERT INTO unit VALUES (?,?,?)");
    sender_ = file_->prepare("REPLACE INTO sender VALUES (?,?,?,?)");
    detection_ = file_->prepare("INSERT INTO detection VALUES (?,?,?,?,?,?,?,?)");
    has_arming_ = version == io::session_version_with_arming;
    window_ = file_->prepare(has_arming_ ? "INSERT INTO window VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
                                         : "INSERT INTO window VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
    if (has_arming_) arming_ = file_->prepare("INSERT INTO arming VALUES (?,?,?,?,?,?,?,?,?,?,?)");
}

void row_writer::begin() {
    file_->run("BEGIN IMMEDIATE");
}

// A session that has ended is one file, which can be read in a folder where nothing can be written.
// While others read it, it keeps its second file.
void row_writer::commit() {
    file_->run("COMMIT");
    if (!has_ended_) return;
    try {
        file_->run("PRAGMA busy_timeout = 0");
        file_->run("PRAGMA journal_mode = DELETE");
    } catch (const io_error&) {
    }
}

void row_writer::write(entry_kind kind, std::string_view entry, const entry_parts& parts) {
    entry_decoder fields(entry);
    switch (kind) {
        case entry_kind::block:
            return write_block(fields);
        case entry_kind::detection:
            return write_detection(fields);
        case entry_kind::window:
            return write_window(*parts.window);
        case entry_kind::arming:
            return write_arming(*parts.arming);
        case entry_kind::templates:
            return write_templates(*parts.templates);
        case entry_kind::motion:
            return write_motion(fields);
        case entry_kind::begin_end:
            return;
        case entry_kind::end:
            return write_end(fields);
    }
}

void row_writer::write_block(entry_decoder fields) {
    const std::int64_t seq = ++part_.inputs;
    const std::int64_t arrived_us = fields.number();
    const std::int64_t epoch = fields.number();
    block_->bind(1, seq).bind(2, arrived_us).bind(3, epoch);
    for (int column = 5; column <= 9; ++column) block_->bind(column, fields.number());
    const bool has_watermark = fields.number() != 0;
    const std::int64_t told_us = fields.number();
    const auto watermark_us = has_watermark ? std::optional(told_us) : std::nullopt;
    const std::string_view spikes = fields.text();
    for (std::int64_t units = fields.number(); units > 0; --units) add_unit(fields.text());
    for (std::int64_t senders = fields.number(); senders > 0; --senders) {
        sender_->bind_text(1, fields.text()).bind_text(2, fields.text());
        sender_->bind(3, fields.number()).bind(4, fields.number()).run();
    }
    const std::string missing_ones = left_out(spikes, epoch, watermark_us);
    block_->bind(4, watermark_us).bind_bytes(10, spikes).bind_bytes(11, missing_ones).run();
}

void row_writer::add_unit(std::string_view name) {
    unit_->bind(1, static_cast<std::int64_t>(part_.unit_names.size()));
    unit_->bind_text(2, name).bind(3, part_.inputs).run();
    part_.unit_names.emplace_back(name);
    names_as_json_.push_back(json_of_name(part_.unit_names.back()));
}

// As the session does it.
std::string row_writer::left_out(std::string_view spikes, std::int64_t epoch,
                                 std::optional<std::int64_t> watermark_us) {
    std::string numbers;
    if (std::exchange(part_.epoch, epoch) != epoch) part_.order.flush();
    const std::size_t count = spikes.size() / io::session_spike_bytes;
    for (std::size_t i = 0; i < count; ++i) {
        const char* const at = spikes.data() + i * io::session_spike_bytes;
        const spike_event spike{io::load<std::int64_t>(at),
                                io::load<unit_id>(at + sizeof spike.time_us)};
        if (to_index(spike.unit) >= part_.unit_names.size() || !part_.order.add(spike))
            io::append(numbers, static_cast<std::uint32_t>(i));
    }
    if (watermark_us) part_.order.advance(*watermark_us);
    part_.order.take();
    return numbers;
}

void row_writer::write_detection(entry_decoder fields) {
    detection_->bind(1, ++part_.detections);
    for (int column = 2; column <= 6; ++column) detection_->bind(column, fields.number());
    detection_->bind(8, fields.number()).bind_bytes(7, fields.text()).run();
}

void row_writer::write_window(const mined_window& window) {
    const recorded_window row = record_of(window, names_as_json_);
    std::optional<std::int64_t> complete_to;
    if (row.complete_to) complete_to = static_cast<std::int64_t>(*row.complete_to);
    window_->bind(1, ++part_.windows).bind(2, row.input).bind(3, row.epoch);
    window_->bind(4, row.bounds.number).bind(5, row.bounds.begin.count());
    window_->bind(6, row.bounds.end.count()).bind(7, static_cast<std::int64_t>(row.spikes));
    window_->bind(8, static_cast<std::int64_t>(row.threshold)).bind(9, std::int64_t{row.has_gap});
    window_->bind(10, complete_to).bind_text(11, row.digest).bind_text(12, row.episodes);
    std::optional<std::int64_t> was_tested;
    if (row.was_tested) was_tested = *row.was_tested ? 1 : 0;
    if (has_arming_) window_->bind(13, was_tested);
    window_->run();
}

void row_writer::write_arming(const placed_change& placed) {
    const recorded_arming row = record_of(placed.change, placed.input, names_as_json_);
    arming_->bind(1, ++part_.armings).bind(2, row.input).bind(3, row.epoch).bind(4, row.from_us);
    arming_->bind(5, row.window_epoch).bind(6, row.window).bind(7, row.due_us);
    arming_->bind(8, std::int64_t{row.is_late}).bind_text(9, row.armed);
    arming_->bind_text(10, row.disarmed).bind_text(11, row.refused).run();
}

void row_writer::write_templates(const std::string& archive) {
    const auto meta = file_->prepare("INSERT INTO meta VALUES (?, ?)");
    meta->bind_text(1, io::session_templates).bind_bytes(2, archive).run();
}

// Lines follow on each other.
void row_writer::write_motion(entry_decoder fields) {
    const auto meta = file_->prepare(
        "INSERT INTO meta VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = value || "
        "excluded.value");
    meta->bind_text(1, io::session_motion).bind_text(2, fields.text()).run();
}

void row_writer::write_end(entry_decoder fields) {
    const std::string unrecorded = std::to_string(fields.number());
    const auto meta = file_->prepare("INSERT INTO meta VALUES (?, ?)");
    meta->bind_text(1, "unrecorded_at_end").bind_text(2, unrecorded).run();
    meta->bind_text(1, "counts").bind_text(2, fields.text()).run();
    if (const std::string_view warnings = fields.text(); !warnings.empty())
        meta->bind_text(1, "warnings").bind_text(2, warnings).run();
    has_ended_ = true;
}

}  // namespace spikeweave::live
