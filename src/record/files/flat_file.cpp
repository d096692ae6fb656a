#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/file_error.hpp"
#include "io/foreign_file.hpp"
#include "io/random_file.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {
namespace {

constexpr std::size_t sample_bytes = sizeof(std::int16_t);

class flat_source final : public sample_source {
public:
    explicit flat_source(flat_file what) : what_(std::move(what)), file_(what_.path) {
        const std::uint64_t frame_bytes = sample_bytes * what_.stored;
        if (file_.size() <= what_.offset_bytes)
            throw io::file_error(what_.path,
                                 fmt::format("holds no samples: it has {} bytes, and samples begin "
                                             "at byte {}",
                                             file_.size(), what_.offset_bytes));
        io::refuse_as_samples(what_.path, what_.offset_bytes);
        const std::uint64_t bytes = file_.size() - what_.offset_bytes;
        frames_ = bytes / frame_bytes;
        if (what_.may_be_cut && frames_ == 0)
            throw io::file_error(what_.path,
                                 fmt::format("holds no whole frame: found {} bytes, expected {}, 2 "
                                             "for each of {} channels",
                                             bytes, frame_bytes, what_.stored));
        if (!what_.may_be_cut && bytes % frame_bytes != 0)
            throw io::file_error(
                what_.path,
                fmt::format("frame {}: found {} bytes, expected {}, 2 for each of {} channels: the "
                            "file is cut, or it does not have that many channels",
                            frames_, bytes % frame_bytes, frame_bytes, what_.stored));
    }

    std::uint64_t frame_count() const override { return frames_; }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::uint64_t at = what_.offset_bytes + first * sample_bytes * what_.stored;
        file_.read_at(at, as_chars(into));
    }

private:
    static std::span<char> as_chars(std::span<std::int16_t> samples) {
        return {reinterpret_cast<char*>(samples.data()), samples.size_bytes()};
    }

    flat_file what_;
    io::random_file file_;
    std::uint64_t frames_ = 0;
};

class kept_channels final : public sample_source {
public:
    kept_channels(std::shared_ptr<const sample_source> all, std::size_t stored,
                  std::vector<std::size_t> kept)
        : all_(std::move(all)), stored_(stored), kept_(std::move(kept)) {}

    std::uint64_t frame_count() const override { return all_->frame_count(); }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::size_t kept = kept_.size();
        constexpr std::size_t block_frames = 4096;
        std::vector<std::int16_t> block;
        for (std::size_t done = 0; done < into.size() / kept; done += block_frames) {
            const std::size_t frames = std::min(block_frames, into.size() / kept - done);
            block.resize(frames * stored_);
            all_->read(first + done, block);
            for (std::size_t f = 0; f < frames; ++f)
                for (std::size_t c = 0; c < kept; ++c)
                    into[(done + f) * kept + c] = block[f * stored_ + kept_[c]];
        }
    }

private:
    std::shared_ptr<const sample_source> all_;
    std::size_t stored_;
    std::vector<std::size_t> kept_;
};

}  // namespace

std::shared_ptr<const sample_source> keep_channels(std::shared_ptr<const sample_source> all,
                                                   std::size_t stored,
                                                   std::vector<std::size_t> kept) {
    if (kept == all_below(stored)) return all;
    return std::make_shared<kept_channels>(std::move(all), stored, std::move(kept));
}

std::shared_ptr<const sample_source> open_flat_file(flat_file what) {
    return std::make_shared<flat_source>(std::move(what));
}

}  // namespace spikeweave::record
