#include "live/log/session_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>
#include <unordered_set>
#include <utility>

#include "io/file_error.hpp"
#include "io/little_endian.hpp"
#include "io/session_schema.hpp"
#include "spikeweave/core/error.hpp"

namespace spikeweave::live {
namespace {

window_outcome size_in(io::statement& row, int column) {
    if (row.is_null(column)) return {};
    return static_cast<std::size_t>(row.count(column));
}

std::optional<bool> flag_in(io::statement& row, int column) {
    if (row.is_null(column)) return {};
    return row.number(column) != 0;
}

}  // namespace

session_file::session_file(const std::filesystem::path& path)
    : file_(io::open_database(path, io::database::access::read)) {
    file_->run("BEGIN");  // later writes are not read
    const int version = io::check_session_tables(*file_);
    header_ = read_header(*file_);
    inputs_ = rows_of("input");
    detections_ = rows_of("detection");
    windows_ = rows_of("window");
    const bool has_armings = version == io::session_version_with_arming;
    if (has_armings != header_.analysis.arming.has_value())
        throw io::file_error(path, "arming", "the options do not fit the version");
    if (has_armings) armings_ = rows_of("arming");
    const std::string counts = meta("counts");
    if (!counts.empty()) counts_ = counts;
    const std::string at_end = meta("unrecorded_at_end");
    std::from_chars(at_end.data(), at_end.data() + at_end.size(), unrecorded_);
    const auto unrecorded = file_->prepare("SELECT unrecorded FROM input WHERE unrecorded <> 0");
    while (unrecorded->next_row()) unrecorded_ += unrecorded->count(0);
    read_later_units();
    read_senders();
    read_block_ = file_->prepare(
        "SELECT seq, arrived_us, epoch, watermark_us, missing, belated, repeated, unreadable, "
        "unrecorded, spikes FROM input ORDER BY seq");
    read_detection_ = file_->prepare(
        "SELECT seq, input, epoch, armed, times, suppressed FROM detection ORDER BY seq");
    read_window_ = file_->prepare(
        fmt::format("SELECT seq, input, epoch, number, begin_us, end_us, spikes, threshold, "
                    "has_gap, complete_to, digest, episodes, {} FROM window ORDER BY seq",
                    tested_column()));
    if (has_armings) read_arming_ = prepare_armings();
}

void session_file::fail(std::string_view table, std::int64_t row, const std::string& why) const {
    throw io::file_error(path(), fmt::format("table {}, row {}", table, row), why);
}

std::int64_t session_file::rows_of(const char* table) {
    const auto asked = file_->prepare(fmt::format("SELECT count(*) FROM {}", table));
    return asked->next_row() ? asked->number(0) : 0;
}

std::string session_file::meta(std::string_view name) {
    const auto asked = file_->prepare("SELECT value FROM meta WHERE name = ?");
    asked->bind_text(1, name);
    return asked->next_row() ? std::string(asked->text(0)) : std::string();
}

bool session_file::has_templates() {
    const auto asked = file_->prepare("SELECT 1 FROM meta WHERE name = ?");
    asked->bind_text(1, io::session_templates);
    return asked->next_row();
}

std::vector<motion_step> session_file::motion() {
    constexpr double most_um = 1e6;
    std::vector<motion_step> out;
    std::istringstream lines(meta(io::session_motion));
    std::int64_t epoch = 0;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::int64_t of = 0;
        motion_step step;
        fields >> of >> step.time_us;
        for (double um = 0; fields >> um;) step.displacement_um.push_back(um);
        const bool is_sound = std::ranges::all_of(
            step.displacement_um, [](double um) { return std::abs(um) <= most_um; });
        if (!fields.eof() || !is_sound || step.displacement_um.empty())
            throw io::file_error(
                path(), "meta, motion",
                fmt::format("found {}, expected an epoch, a time and displacements",
                            io::shown(line)));
        if (of != std::exchange(epoch, of)) out.clear();
        out.push_back(std::move(step));
    }
    return out;
}

std::vector<std::string> session_file::warnings() {
    std::vector<std::string> out;
    std::istringstream lines(meta("warnings"));
    for (std::string line; std::getline(lines, line);) out.push_back(line);
    return out;
}

// Null in a session in which nothing is armed automatically.
const char* session_file::tested_column() const {
    return header_.analysis.arming ? "was_tested" : "NULL";
}

std::vector<recorded_outcome> session_file::outcomes() {
    std::vector<recorded_outcome> all;
    const auto row = file_->prepare(
        fmt::format("SELECT complete_to, {} FROM window ORDER BY seq", tested_column()));
    while (row->next_row()) all.push_back({size_in(*row, 0), flag_in(*row, 1)});
    return all;
}

std::unique_ptr<io::statement> session_file::prepare_armings() {
    return file_->prepare(
        "SELECT seq, input, epoch, from_us, window_epoch, window, due_us, is_late, armed, "
        "disarmed, refused FROM arming ORDER BY seq");
}

recorded_arming session_file::arming_in(io::statement& row, std::int64_t expected) const {
    if (row.number(0) != expected)
        fail("arming", row.number(0), fmt::format("found this number, expected {}", expected));
    return {.input = row.number(1),
            .epoch = row.number(2),
            .from_us = row.number(3),
            .window_epoch = row.number(4),
            .window = row.number(5),
            .due_us = row.number(6),
            .is_late = row.number(7) != 0,
            .armed = std::string(row.text(8)),
            .disarmed = std::string(row.text(9)),
            .refused = std::string(row.text(10))};
}

std::optional<recorded_arming> session_file::next_arming() {
    if (arming_ == armings_ || !read_arming_->next_row()) return {};
    return arming_in(*read_arming_, ++arming_);
}

std::vector<stream_position> session_file::arming_positions() {
    std::vector<stream_position> all;
    if (armings_ == 0) return all;
    const auto row = prepare_armings();
    for (std::int64_t seq = 1; row->next_row(); ++seq) all.push_back(arming_in(*row, seq).from());
    return all;
}

// Numbers follow on each other, so that detections name what was armed.
std::vector<arming_change> session_file::arming_changes(
    const std::vector<std::string>& unit_names) {
    std::vector<arming_change> all;
    if (armings_ == 0) return all;
    std::vector<episode> known;
    std::set<std::size_t> armed;
    const std::size_t given =
        header_.analysis.armed.size() + header_.analysis.patterns.patterns.size();
    const auto row = prepare_armings();
    for (std::int64_t seq = 1; row->next_row(); ++seq) {
        try {
            arming_change& change =
                all.emplace_back(change_of(arming_in(*row, seq), all.size(), unit_names));
            for (const std::size_t number : change.disarmed)
                if (armed.erase(number) == 0) throw invalid_argument("found what was not armed");
            for (const auto& [number, what, per_minute] : change.armed) {
                if (number == given + known.size()) known.push_back(what);
                if (number < given || number - given >= known.size() ||
                    known[number - given] != what || !armed.insert(number).second)
                    throw invalid_argument(fmt::format("found {} as its number", number));
            }
        } catch (const invalid_argument& error) {
            fail("arming", seq, error.what());
        }
    }
    return all;
}

void session_file::read_later_units() {
    std::unordered_set<std::string> known(header_.unit_names.begin(), header_.unit_names.end());
    if (known.size() != header_.unit_names.size())
        throw io::file_error(path(), "table unit", "found two units of the same name");
    const auto row =
        file_->prepare("SELECT id, name, input FROM unit WHERE input <> 0 ORDER BY id");
    std::int64_t last_input = 1;
    for (auto id = static_cast<std::int64_t>(known.size()); row->next_row(); ++id) {
        if (row->number(0) != id)
            fail("unit", row->number(0), fmt::format("found this number, expected {}", id));
        if (row->number(2) < last_input || row->number(2) > inputs_)
            fail("unit", id,
                 fmt::format("found input {}, expected {} to {}", row->number(2), last_input,
                             inputs_));
        last_input = row->number(2);
        later_units_.emplace_back(last_input, row->text(1));
        if (!known.insert(later_units_.back().second).second)
            fail("unit", id, "found a name that another unit has");
    }
}

void session_file::read_senders() {
    const auto row =
        file_->prepare("SELECT name, clock, last, has_finished FROM sender ORDER BY rowid");
    while (row->next_row())
        senders_.push_back({.name = std::string(row->text(0)),
                            .clock = std::string(row->text(1)),
                            .last = row->count(2),
                            .has_finished = row->number(3) != 0});
}

std::optional<recorded_block> session_file::next_block() {
    io::statement& row = *read_block_;
    if (input_ == inputs_ || !row.next_row()) return {};
    ++input_;
    if (row.number(0) != input_)
        fail("input", row.number(0), fmt::format("found this number, expected {}", input_));
    recorded_block read{
        .arrived_us = row.number(1), .epoch = row.number(2), .unrecorded = row.count(8)};
    if (read.epoch < epoch_) fail("input", input_, "its epoch is before that of the row before");
    source_block& block = read.block;
    block.begins_epoch = read.epoch > epoch_;
    epoch_ = read.epoch;
    if (!row.is_null(3)) block.watermark_us = row.number(3);
    block.missing = row.count(4);
    block.belated = row.count(5);
    block.repeated = row.count(6);
    block.unreadable = row.count(7);
    const std::string_view spikes = row.bytes(9);
    if (spikes.size() % io::session_spike_bytes != 0)
        fail("input", input_,
             fmt::format("found {} bytes of spikes, expected {} for each", spikes.size(),
                         io::session_spike_bytes));
    block.spikes.reserve(spikes.size() / io::session_spike_bytes);
    for (std::size_t at = 0; at < spikes.size(); at += io::session_spike_bytes)
        block.spikes.push_back({io::load<std::int64_t>(spikes.data() + at),
                                io::load<unit_id>(spikes.data() + at + sizeof(std::int64_t))});
    check_times(block);
    for (; units_told_ < later_units_.size(); ++units_told_) {
        if (later_units_[units_told_].first != input_) break;
        block.new_units.push_back(later_units_[units_told_].second);
    }
    return read;
}

// A source refuses other times, with which sums would overflow.
void session_file::check_times(const source_block& block) const {
    constexpr std::int64_t most_us = std::int64_t{1} << 60;
    const auto check = [&](std::int64_t time_us) {
        if (time_us < -most_us || time_us > most_us)
            fail(
                "input", input_,
                fmt::format("found the time {} us, expected {} to {}", time_us, -most_us, most_us));
    };
    if (block.watermark_us) check(*block.watermark_us);
    for (const spike_event& spike : block.spikes) check(spike.time_us);
}

std::optional<recorded_detection> session_file::next_detection() {
    io::statement& row = *read_detection_;
    if (detection_ == detections_ || !row.next_row()) return {};
    ++detection_;
    if (row.number(0) != detection_)
        fail("detection", row.number(0), fmt::format("found this number, expected {}", detection_));
    recorded_detection read{.input = row.number(1), .epoch = row.number(2), .armed = row.count(3)};
    const std::string_view times = row.bytes(4);
    if (times.size() % sizeof(std::int64_t) != 0)
        fail("detection", detection_,
             fmt::format("found {} bytes of times, expected 8 for each", times.size()));
    read.times.resize(times.size() / sizeof(std::int64_t));
    if (!times.empty()) std::memcpy(read.times.data(), times.data(), times.size());
    if (row.count(5) >= suppressions)
        fail("detection", detection_,
             fmt::format("found {} as the reason why it is no trigger, expected 0 to {}",
                         row.number(5), suppressions - 1));
    read.suppressed = static_cast<suppression>(row.number(5));
    return read;
}

std::optional<recorded_window> session_file::next_window() {
    io::statement& row = *read_window_;
    if (window_ == windows_ || !row.next_row()) return {};
    ++window_;
    if (row.number(0) != window_)
        fail("window", row.number(0), fmt::format("found this number, expected {}", window_));
    return recorded_window{
        .input = row.number(1),
        .epoch = row.number(2),
        .bounds = {row.number(3), duration{row.number(4)}, duration{row.number(5)}},
        .spikes = row.count(6),
        .threshold = row.count(7),
        .has_gap = row.number(8) != 0,
        .complete_to = size_in(row, 9),
        .digest = std::string(row.text(10)),
        .episodes = std::string(row.text(11)),
        .was_tested = flag_in(row, 12)};
}

}  // namespace spikeweave::live
