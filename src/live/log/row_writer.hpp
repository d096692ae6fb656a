#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/database.hpp"
#include "live/log/entries.hpp"
#include "live/log/header.hpp"
#include "live/session/event_order.hpp"

namespace spikeweave::live {

/// The part of a session that was recorded before it was interrupted.
struct analysed_spikes {
    std::int64_t inputs = 0;
    std::int64_t epoch = 0;  ///< of the last block
    std::vector<std::string> unit_names{};
    event_order order{};  ///< after the last block
    std::int64_t detections = 0;
    std::int64_t windows = 0;
    std::int64_t armings = 0;
};

/// Writes entries as rows of the tables of a session.
class row_writer {
public:
    /// Makes a new file. @throws io_error
    row_writer(const std::filesystem::path& path, const session_header& header,
               bool survive_power_failure);
    /// Goes on with a file. @throws io_error
    row_writer(const std::filesystem::path& path, analysed_spikes part, bool survive_power_failure);

    /// Rows written between these two are in the file as a whole, or not at all. @throws io_error
    void begin();
    void commit();
    /// @throws io_error
    void write(entry_kind kind, std::string_view entry, const entry_parts& parts);

    std::int64_t inputs() const { return part_.inputs; }

private:
    void prepare_file(bool survive_power_failure);
    void prepare_statements(int version);
    void add_unit(std::string_view name);
    void write_block(entry_decoder fields);
    void write_detection(entry_decoder fields);
    void write_window(const mined_window& window);
    void write_arming(const placed_change& placed);
    void write_templates(const std::string& archive);
    void write_motion(entry_decoder fields);
    void write_end(entry_decoder fields);
    /// The numbers of the spikes of a block that are not analysed: those that came too late, and
    /// those of unknown units.
    std::string left_out(std::string_view spikes, std::int64_t epoch,
                         std::optional<std::int64_t> watermark_us);

    std::unique_ptr<io::database> file_;
    analysed_spikes part_;
    std::vector<std::string> names_as_json_{};
    bool has_ended_ = false;
    bool has_arming_ = false;  // the table and what belongs to it
    // They end before the database.
    std::unique_ptr<io::statement> block_{}, unit_{}, sender_{}, detection_{}, window_{}, arming_{};
};

}  // namespace spikeweave::live
