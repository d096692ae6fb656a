#include "spikes/files/block_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "io/file_error.hpp"
#include "io/line_blocks.hpp"
#include "io/npy.hpp"
#include "io/random_file.hpp"
#include "spikes/files/integer_units.hpp"
#include "spikes/files/numpy_times.hpp"
#include "spikes/files/text_rows.hpp"

namespace spikeweave::spikes {
namespace {

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

}  // namespace

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

}  // namespace spikeweave::spikes
