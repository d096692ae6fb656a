#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "io/file_error.hpp"
#include "io/random_file.hpp"
#include "record/files/readers.hpp"

namespace spikeweave::record {
namespace {

constexpr std::size_t sample_bytes = sizeof(std::int16_t);

bool keeps_all(const flat_file& what) {
    for (std::size_t c = 0; c < what.kept.size(); ++c)
        if (what.kept[c] != c) return false;
    return what.kept.size() == what.stored;
}

class flat_source final : public sample_source {
public:
    explicit flat_source(flat_file what)
        : what_(std::move(what)), file_(what_.path), keeps_all_(keeps_all(what_)) {
        const std::uint64_t frame_bytes = sample_bytes * what_.stored;
        if (file_.size() <= what_.offset_bytes)
            throw io::file_error(what_.path,
                                 fmt::format("holds no samples: it has {} bytes, and samples begin "
                                             "at byte {}",
                                             file_.size(), what_.offset_bytes));
        refuse_array();
        const std::uint64_t bytes = file_.size() - what_.offset_bytes;
        if (bytes % frame_bytes != 0)
            throw io::file_error(
                what_.path,
                fmt::format("frame {}: found {} bytes, expected {}, 2 for each of {} channels: the "
                            "file is cut, or it does not have that many channels",
                            bytes / frame_bytes, bytes % frame_bytes, frame_bytes, what_.stored));
        frames_ = bytes / frame_bytes;
    }

    std::uint64_t frame_count() const override { return frames_; }

    void read(std::uint64_t first, std::span<std::int16_t> into) const override {
        const std::uint64_t at = what_.offset_bytes + first * sample_bytes * what_.stored;
        if (keeps_all_) return file_.read_at(at, as_chars(into));
        const std::size_t kept = what_.kept.size();
        constexpr std::size_t block_frames = 4096;
        std::vector<std::int16_t> block;
        for (std::size_t done = 0; done < into.size() / kept; done += block_frames) {
            const std::size_t frames = std::min(block_frames, into.size() / kept - done);
            block.resize(frames * what_.stored);
            file_.read_at(at + done * sample_bytes * what_.stored, as_chars(block));
            for (std::size_t f = 0; f < frames; ++f)
                for (std::size_t c = 0; c < kept; ++c)
                    into[(done + f) * kept + c] = block[f * what_.stored + what_.kept[c]];
        }
    }

private:
    // An array's header would be read as samples, and each float as two samples.
    void refuse_array() const {
        constexpr std::string_view magic = "\x93NUMPY";
        std::string head(magic.size(), '\0');
        if (what_.offset_bytes >= magic.size() || file_.size() < magic.size()) return;
        file_.read_at(0, head);
        if (head == magic)
            throw io::file_error(what_.path,
                                 "is an array of numpy with a header, expected int16 samples and "
                                 "nothing else: write it with x.astype('int16').tofile(...), or "
                                 "say how long the header is if it holds int16 samples");
    }

    static std::span<char> as_chars(std::span<std::int16_t> samples) {
        return {reinterpret_cast<char*>(samples.data()), samples.size_bytes()};
    }

    flat_file what_;
    io::random_file file_;
    bool keeps_all_;
    std::uint64_t frames_ = 0;
};

}  // namespace

std::shared_ptr<const sample_source> open_flat_file(flat_file what) {
    return std::make_shared<flat_source>(std::move(what));
}

}  // namespace spikeweave::record
