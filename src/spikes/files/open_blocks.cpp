#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "spikes/files/block_files.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave {
namespace spikes {
namespace {

namespace fs = std::filesystem;

// The files of a recording, in the order in which they continue each other.
std::vector<fs::path> files_of_recording(const fs::path& path, spike_format format) {
    std::error_code unknown;
    const fs::file_type kind = fs::status(path, unknown).type();
    if (kind != fs::file_type::directory) {
        if (kind != fs::file_type::regular && fs::exists(path, unknown))
            throw io::file_error(path,
                                 "is a pipe or a device; expected a file or a folder that "
                                 "can be read several times");
        return {path};
    }
    const bool is_phy = fs::exists(path / "params.py", unknown);
    if (is_phy || (format != spike_format::automatic && format != spike_format::text &&
                   format != spike_format::npy))
        throw io::file_error(
            path, fmt::format("is of the format {}, which cannot be read block by block; expected "
                              "text or npy, in time order",
                              is_phy ? "phy" : to_string(format)));
    std::vector<fs::path> files;
    std::error_code failed;
    fs::directory_iterator entries(path, failed);
    if (failed) throw io::file_error(path, "cannot be read: " + failed.message());
    for (const fs::directory_entry& entry : entries) {
        if (entry.path().filename().string().starts_with('.')) continue;
        if (!entry.is_regular_file())
            throw io::file_error(entry.path(),
                                 "is not a file; expected only files of spikes, each "
                                 "continued by the next one");
        files.push_back(entry.path());
    }
    if (files.empty()) throw io::file_error(path, "is a folder without files of spikes");
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        return natural_less(a.filename().string(), b.filename().string());
    });
    return files;
}

class files_as_blocks final : public spike_blocks {
public:
    files_as_blocks(const fs::path& path, const spike_read_options& how, execution run)
        : path_(path),
          files_(files_of_recording(path, how.format)),
          how_(how),
          run_(std::move(run)) {
        for (const fs::path& file : files_) open_block_file({file, how_, run_}, units_);
    }

    void rewind() override {
        file_.reset();
        next_ = 0;
        last_us_ = INT64_MIN;
        any_ = false;
    }

    bool next(spike_block& block) override {
        while (true) {
            core::throw_if_stopped(run_.stop);
            if (file_ && file_->next(block)) break;
            if (next_ == files_.size()) {
                if (!any_) throw io::file_error(path_, "holds no spikes");
                block.clear();
                return false;
            }
            file_ = open_block_file({files_[next_++], how_, run_}, units_);
        }
        check_order(block);
        return true;
    }

    const std::vector<std::string>& unit_names() const override { return units_.names(); }

private:
    void check_order(const spike_block& block) {
        for (std::size_t i = 0; i < block.times_us.size(); ++i) {
            const std::int64_t time = block.times_us[i];
            if (time < last_us_)
                throw io::file_error(
                    files_[next_ - 1], file_->place_of(i),
                    fmt::format("found a spike at {} after one at {}, expected time order, also "
                                "from file to file, to read block by block",
                                format_duration(duration{time}),
                                format_duration(duration{last_us_})));
            last_us_ = time;
        }
        any_ = any_ || !block.times_us.empty();
    }

    fs::path path_;
    std::vector<fs::path> files_;
    spike_read_options how_;
    execution run_;
    unit_numbers_by_name units_;
    std::unique_ptr<block_file> file_;
    std::size_t next_ = 0;  // the file after this one
    std::int64_t last_us_ = INT64_MIN;
    bool any_ = false;
};

void check_for_blocks(spike_read_options how) {
    const option_list all = describe(how);
    all.check();
    const option_list usable = describe_for_blocks(how);
    for (const option& one : all) {
        const bool is_given = one.needs.empty() && one.is_set() && one.get() != option_value{false};
        if (is_given && !usable.has(one.name))
            throw invalid_argument(one.name,
                                   "it needs the whole recording, which is read block by block");
    }
}

}  // namespace
}  // namespace spikes

option_list describe_for_blocks(spike_read_options& options) {
    option_list list = describe(options);
    for (const option& one : describe(options))
        if (one.name != "format" && one.name != "time_unit" && one.name != "allow_negative")
            list.remove(one.name);
    return list;
}

std::unique_ptr<spike_blocks> open_spike_blocks(const std::filesystem::path& path,
                                                const spike_read_options& how,
                                                const execution& run) {
    spikes::check_for_blocks(how);
    return std::make_unique<spikes::files_as_blocks>(path, how, run);
}

}  // namespace spikeweave
