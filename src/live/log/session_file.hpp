#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/database.hpp"
#include "live/log/entries.hpp"
#include "live/log/header.hpp"

namespace spikeweave::live {

/// The file of a session, as it was when it was opened; the session may go on.
class session_file {
public:
    /// @throws io_error if the file is no session, of another version, or damaged; also below.
    explicit session_file(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return file_->path(); }
    const session_header& header() const { return header_; }
    /// The program that recorded it, and its version.
    std::string program() { return meta("program"); }
    /// Whether it has learned its templates, which `read_templates` reads.
    bool has_templates();
    /// The steps of the motion that was followed in the last epoch with one.
    /// @throws io_error if they are damaged.
    std::vector<motion_step> motion();
    /// The progress of senders that number their messages; the one that sent last is last.
    const std::vector<sender_progress>& senders() const { return senders_; }
    /// The counts at the end of the session, as JSON; null if it goes on or was interrupted.
    const std::optional<std::string>& counts_at_end() const { return counts_; }
    /// The warnings about the source at the end of the session, as full sentences.
    std::vector<std::string> warnings();
    std::int64_t inputs() const { return inputs_; }
    std::int64_t detections() const { return detections_; }
    std::int64_t windows() const { return windows_; }
    std::int64_t armings() const { return armings_; }
    /// The size up to which each window was mined, and whether it was tested.
    std::vector<recorded_outcome> outcomes();
    /// Where each change of what is armed took effect.
    std::vector<stream_position> arming_positions();
    /// These changes. @param unit_names  of all units
    std::vector<arming_change> arming_changes(const std::vector<std::string>& unit_names);
    /// Number of records that are not in the file, because the disk was too slow.
    std::uint64_t unrecorded() const { return unrecorded_; }

    /// The records, each kind in its order; null after the last one.
    std::optional<recorded_block> next_block();
    std::optional<recorded_detection> next_detection();
    std::optional<recorded_window> next_window();
    std::optional<recorded_arming> next_arming();

private:
    [[noreturn]] void fail(std::string_view table, std::int64_t row, const std::string& why) const;
    std::int64_t rows_of(const char* table);
    std::string meta(std::string_view name);
    void check_times(const source_block& block) const;
    void read_later_units();
    void read_senders();
    const char* tested_column() const;
    std::unique_ptr<io::statement> prepare_armings();
    recorded_arming arming_in(io::statement& row, std::int64_t expected) const;

    std::unique_ptr<io::database> file_;
    session_header header_;
    std::vector<sender_progress> senders_{};
    std::optional<std::string> counts_{};
    std::int64_t inputs_ = 0;
    std::int64_t detections_ = 0;
    std::int64_t windows_ = 0;
    std::int64_t armings_ = 0;
    std::uint64_t unrecorded_ = 0;
    // The next rows.
    std::int64_t input_ = 0;
    std::int64_t detection_ = 0;
    std::int64_t window_ = 0;
    std::int64_t arming_ = 0;
    std::int64_t epoch_ = 0;
    // Units that appear in a block, with its number, and how many of them were told.
    std::vector<std::pair<std::int64_t, std::string>> later_units_{};
    std::size_t units_told_ = 0;
    // They end before the database.
    std::unique_ptr<io::statement> read_block_{}, read_detection_{}, read_window_{}, read_arming_{};
};

}  // namespace spikeweave::live
