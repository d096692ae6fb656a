#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "live/log/session_file.hpp"
#include "live/sources/source.hpp"

namespace spikeweave::live {

/// The blocks of a recorded session, as they came.
class recorded_blocks : public source {
public:
    /// @param file   has to live as long
    /// @param speed  the speed relative to their arrival; 0 means as fast as they are processed
    /// @param stop   ends the source within a moment
    explicit recorded_blocks(session_file& file, double speed = 0, std::stop_token stop = {});

    const std::vector<std::string>& unit_names() const override {
        return file_->header().unit_names;
    }
    std::optional<source_block> next() override;

private:
    using clock = std::chrono::steady_clock;

    bool wait_until(std::int64_t arrived_us);

    session_file* file_;
    double speed_;
    std::stop_token stop_;
    std::optional<std::int64_t> first_arrived_us_{};
    clock::time_point began_{};
};

}  // namespace spikeweave::live
