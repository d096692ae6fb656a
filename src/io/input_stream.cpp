#include "io/input_stream.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "io/file_error.hpp"
#include "io/readable_file.hpp"

namespace spikeweave::io {

void input_stream::close::operator()(gzFile_s* file) const noexcept {
    gzclose_r(file);
}

input_stream::input_stream(std::filesystem::path path) : path_(std::move(path)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored))
        throw file_error(path_, "is a folder, expected a file");
    if (std::filesystem::is_regular_file(path_, ignored))
        size_ = std::filesystem::file_size(path_, ignored);
    const readable_file file(path_);
    file_.reset(gzopen(file.path().c_str(), "rb"));
    if (!file_) throw system_error(path_, "cannot be opened");
    constexpr unsigned buffer_size = 1U << 18;
    gzbuffer(file_.get(), buffer_size);
}

std::size_t input_stream::read(std::span<char> into) {
    constexpr std::size_t most_at_once = std::size_t{1} << 30;
    std::size_t done = 0;
    while (done < into.size()) {
        const auto wanted = static_cast<unsigned>(std::min(into.size() - done, most_at_once));
        const int got = gzread(file_.get(), into.data() + done, wanted);
        if (got > 0) done += static_cast<std::size_t>(got);
        int code = Z_OK;
        const char* reason = gzerror(file_.get(), &code);
        if (code == Z_ERRNO) throw system_error(path_, "cannot be read");
        if (code != Z_OK && code != Z_STREAM_END)
            throw file_error(path_, fmt::format("its gzip data are damaged or cut ({})", reason));
        if (got <= 0) break;
    }
    return done;
}

std::uint64_t input_stream::position() const {
    return static_cast<std::uint64_t>(std::max<z_off_t>(0, gzoffset(file_.get())));
}

}  // namespace spikeweave::io
