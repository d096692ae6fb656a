#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <charconv>
#include <iterator>
#include <optional>

#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "spikes/files/readers.hpp"
#include "spikes/files/time_scale.hpp"

namespace spikeweave::spikes {
namespace {

// Compresses the data that pass through it.
class gzip_filter {
public:
    explicit gzip_filter(io::atomic_file& file) : file_(&file), packed_(std::size_t{1} << 18) {
        constexpr int gzip_window = 15 + 16;
        constexpr int memory_level = 8;
        if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                         Z_DEFAULT_STRATEGY) != Z_OK)
            throw io_error("zlib cannot begin to pack");
    }
    ~gzip_filter() { deflateEnd(&stream_); }
    gzip_filter(const gzip_filter&) = delete;
    gzip_filter& operator=(const gzip_filter&) = delete;

    void write(std::string& bytes, bool last) {
        stream_.next_in = reinterpret_cast<Bytef*>(bytes.data());
        stream_.avail_in = static_cast<uInt>(bytes.size());
        do {
            stream_.next_out = reinterpret_cast<Bytef*>(packed_.data());
            stream_.avail_out = static_cast<uInt>(packed_.size());
            deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
            file_->write({packed_.data(), packed_.size() - stream_.avail_out});
        } while (stream_.avail_out == 0);
    }

private:
    io::atomic_file* file_;
    std::vector<char> packed_;
    z_stream stream_{};
};

// Refuses names that would be read back differently.
void check_names(const writing& job, char delimiter) {
    for (const std::string& name : job.spikes.unit_names()) {
        std::size_t used = 0;
        static_cast<void>(parse_decimal(name, time_scale::microseconds(), used));
        const bool real = used == name.size() && name.find('.') != std::string::npos;
        if (!io::is_printable_utf8(name) || name.find(delimiter) != std::string::npos ||
            name.find('"') != std::string::npos || name.front() == ' ' || name.back() == ' ' ||
            real)
            throw invalid_argument(fmt::format(
                "'{}': the unit {} cannot be written to a text file; write .npz or .nwb",
                job.path.string(), io::shown(name)));
    }
}

void append_seconds(std::string& out, std::int64_t us) {
    constexpr std::uint64_t per_second = 1'000'000;
    const auto magnitude =
        us < 0 ? -static_cast<std::uint64_t>(us) : static_cast<std::uint64_t>(us);
    std::array<char, 32> text{};
    char* p = text.data();
    if (us < 0) *p++ = '-';
    p = std::to_chars(p, text.data() + text.size(), magnitude / per_second).ptr;
    *p++ = '.';
    std::uint64_t rest = magnitude % per_second;
    for (char* digit = p + 6; digit != p; rest /= 10) *--digit = static_cast<char>('0' + rest % 10);
    out.append(text.data(), static_cast<std::size_t>(p + 6 - text.data()));
}

std::string header_of(const spike_sequence& spikes, char delimiter) {
    std::string out = "# span_s: ";
    append_seconds(out, spikes.span().begin.count());
    out += ' ';
    append_seconds(out, spikes.span().end.count());
    out += '\n';
    std::vector<bool> fires(spikes.unit_count());
    for (const unit_id unit : spikes.units()) fires[to_index(unit)] = true;
    for (std::size_t u = 0; u < fires.size(); ++u)
        if (!fires[u]) out += fmt::format("# unit_without_spikes: {}\n", spikes.unit_names()[u]);
    return out + fmt::format("time_s{}unit\n", delimiter);
}

}  // namespace

void write_text(const writing& job) {
    const std::string name = job.path.filename().string();
    const char delimiter = name.ends_with(".csv") || name.ends_with(".csv.gz") ? ',' : '\t';
    check_names(job, delimiter);
    const io::progress_meter meter = job.meter();
    io::atomic_file file(job.path, job.overwrite);
    std::optional<gzip_filter> gzip;
    if (name.ends_with(".gz")) gzip.emplace(file);
    const auto put = [&](std::string& bytes, bool last) {
        if (gzip) {
            gzip->write(bytes, last);
        } else {
            file.write(bytes);
        }
        bytes.clear();
    };

    constexpr std::size_t block_bytes = std::size_t{1} << 19;
    std::string block = header_of(job.spikes, delimiter);
    const auto times = job.spikes.times_us();
    for (std::size_t i = 0; i < times.size(); ++i) {
        append_seconds(block, times[i]);
        block += delimiter;
        block += job.spikes.name(job.spikes.units()[i]);
        block += '\n';
        if (block.size() < block_bytes) continue;
        put(block, false);
        meter.at(i);
    }
    put(block, true);
    meter.at(times.size());
    file.commit();
}

}  // namespace spikeweave::spikes
