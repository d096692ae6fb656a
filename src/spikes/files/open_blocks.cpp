#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/stop.hpp"
#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/npy.hpp"
#include "io/random_file.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/numpy_times.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/text_rows.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave {
namespace spikes {
namespace {

// Numbers units by their first spike.
class unit_numbers_by_name {
public:
    unit_id find(const std::string& name) {
        const auto [at, is_new] =
            ids_.try_emplace(name, unit_id{static_cast<std::uint32_t>(names_.size())});
        if (is_new) names_.push_back(name);
        return at->second;
    }
    const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, unit_id> ids_;
};

// A file that is read block by block, from its beginning.
class block_file {
public:
    block_file() = default;
    block_file(const block_file&) = delete;
    block_file& operator=(const block_file&) = delete;
    virtual ~block_file() = default;

    /// Replaces `block` by the next spikes, in the order of the file.
    /// @return false at the end
    /// @throws io_error
    virtual bool next(spike_block& block) = 0;
    /// Where the file has a spike of the last block: "line 7" or "row 7".
    virtual std::string place_of(std::size_t spike) const = 0;
};

class text_block_file final : public block_file {
public:
    text_block_file(const reading& job, unit_numbers_by_name& units)
        : job_(job),
          in_(job.path),
          lines_(in_),
          text_(without_byte_order_mark(lines_.next())),
          rows_(find_text_layout(text_, job).value_or(text_layout{}), job_,
                [&units](std::string_view label) { return units.find(label_of(label)); }) {}

    bool next(spike_block& block) override {
        block.clear();
        if (begun_) text_ = lines_.next();
        begun_ = true;
        if (text_.empty()) return false;
        rows_.parse(text_, lines_.lines_before(), block);
        rows_.comments.clear();
        return true;
    }

    // Only an error asks for it, so the lines are parsed again.
    std::string place_of(std::size_t spike) const override {
        text_rows again = rows_;
        std::uint64_t number = lines_.lines_before();
        std::size_t before = 0;
        for (std::string_view rest = text_; !rest.empty(); ++number) {
            const std::size_t end = rest.find('\n') + 1;
            spike_block one;
            again.parse(rest.substr(0, end), number, one);
            before += one.units.size();
            if (before > spike) break;
            rest.remove_prefix(end);
        }
        return fmt::format("line {}", number + 1);
    }

private:
    reading job_;  // which the rows refer to
    io::input_stream in_;
    io::line_blocks lines_;
    std::string_view text_;
    text_rows rows_;
    bool begun_ = false;
};

class npy_block_file final : public block_file {
public:
    npy_block_file(const reading& job, unit_numbers_by_name& units)
        : job_(job),
          what_(fmt::format("'{}'", job.path.string())),
          rows_(io::open_bytes(job.path), what_),
          to_us_(rows_, job_),
          numbers_([&units](const std::string& name) { return units.find(name); }) {
        const auto& shape = rows_.header().shape;
        if (shape.size() != 2 || shape[1] != 2)
            throw io::file_error(
                job.path,
                fmt::format(
                    "found an array of shape ({}), expected (n, 2) with rows (time_s, unit)",
                    fmt::join(shape, ", ")));
        left_ = shape[0];
        if (!rows_.header().fortran_order) return;
        // The times are first, so a second reader is at the units.
        units_.emplace(io::open_bytes(job.path), what_);
        units_->skip(left_);
    }

    bool next(spike_block& block) override {
        block.clear();
        before_ += last_;
        last_ = static_cast<std::size_t>(std::min<std::uint64_t>(numpy_block, left_));
        left_ -= last_;
        if (last_ == 0) return false;
        if (units_) {
            read_columns(block);
        } else if (rows_.header().is_whole()) {
            read_rows<std::int64_t>(block);
        } else {
            read_rows<double>(block);
        }
        if (left_ == 0) (units_ ? *units_ : rows_).expect_end();
        return true;
    }

    std::string place_of(std::size_t spike) const override {
        return fmt::format("row {}", before_ + spike);
    }

private:
    void read_columns(spike_block& block) {
        block.times_us.resize(last_);
        numbers_of_units_.resize(last_);
        to_us_.read(rows_, block.times_us);
        units_->read(std::span{numbers_of_units_});
        for (const std::int64_t number : numbers_of_units_)
            block.units.push_back(numbers_.find(number));
    }

    template <class Number>
    void read_rows(spike_block& block) {
        std::vector<Number> items(2 * last_);
        rows_.read(std::span{items});
        for (std::size_t i = 0; i < last_; ++i) {
            const std::int64_t us = to_us_.convert(rows_, items[2 * i]);
            block.append(us, numbers_.find(whole_unit(rows_, before_ + i, items[2 * i + 1])));
        }
    }

    reading job_;  // which the times refer to
    std::string what_;
    io::npy_reader rows_;
    numpy_times to_us_;
    integer_units numbers_;
    std::optional<io::npy_reader> units_{};  // of an array in Fortran order
    std::vector<std::int64_t> numbers_of_units_;
    std::uint64_t left_ = 0;
    std::uint64_t before_ = 0;  // rows before the last block
    std::size_t last_ = 0;      // rows of the last block
};

// @throws io_error if the file is neither text nor npy.
std::unique_ptr<block_file> open_block_file(const reading& job, unit_numbers_by_name& units) {
    const spike_format format =
        job.how.format == spike_format::automatic ? detect_format(job.path) : job.how.format;
    if (format == spike_format::text) return std::make_unique<text_block_file>(job, units);
    if (format == spike_format::npy) return std::make_unique<npy_block_file>(job, units);
    throw io::file_error(job.path,
                         fmt::format("is of the format {}, which cannot be read block by block; "
                                     "expected text or npy, in time order",
                                     to_string(format)));
}

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
