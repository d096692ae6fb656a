#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/stop.hpp"
#include "io/atomic_file.hpp"
#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "spikeweave/core/error.hpp"
#include "spikeweave/sort/phy.hpp"
#include "spikeweave/sort/quality.hpp"

namespace spikeweave {
namespace {

namespace fs = std::filesystem;

// Features are written for at most this many channels per spike: those where its unit is largest.
constexpr std::size_t most_feature_channels = 16;
constexpr double line_step_um = 20;

// An array file, written item by item.
class array_file {
public:
    array_file(const fs::path& path, io::npy_kind kind, std::size_t item_bytes,
               std::vector<std::uint64_t> shape)
        : file_(path) {
        file_.write(io::format_npy_header({kind, item_bytes, false, std::move(shape)}));
    }
    template <class Item>
    void add(std::span<const Item> items) {
        file_.write({reinterpret_cast<const char*>(items.data()), items.size_bytes()});
    }
    void commit() { file_.commit(); }

private:
    io::atomic_file file_;
};

template <class Item>
void write_array(const fs::path& path, io::npy_kind kind, std::vector<std::uint64_t> shape,
                 const std::vector<Item>& items) {
    array_file file(path, kind, sizeof(Item), std::move(shape));
    file.add(std::span<const Item>(items));
    file.commit();
}

void write_text(const fs::path& path, const std::string& text) {
    io::atomic_file file(path);
    file.write(text);
    file.commit();
}

class phy_writer {
public:
    phy_writer(const fs::path& folder, const phy_content& content, const execution& run)
        : folder_(folder), content_(content), run_(run), sorted_(content.sorted) {
        const std::size_t columns = content.features.feature_count();
        const bool even =
            content.features_per_channel > 0 && columns % content.features_per_channel == 0;
        width_ = even ? content.features_per_channel : 1;
        channels_ = columns / width_;
        groups_ = std::size_t{sorted_.unit_count} + 1;
        order_.resize(sorted_.labels.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return sorted_.samples[a] < sorted_.samples[b];
        });
    }

    void check() const {
        if (sorted_.labels.size() != content_.features.size() ||
            content_.units.size() != sorted_.unit_count)
            throw invalid_argument(fmt::format(
                "there are labels of {} spikes and features of {}, {} units and the quality of {}",
                sorted_.labels.size(), content_.features.size(), sorted_.unit_count,
                content_.units.size()));
        for (const std::uint32_t label : sorted_.labels)
            if (label >= groups_)
                throw invalid_argument(
                    fmt::format("a spike belongs to unit {} of {}", label, sorted_.unit_count));
        if (!content_.channels.empty() && content_.channels.size() != channels_)
            throw invalid_argument(fmt::format("there are {} channels, and features of {}",
                                               content_.channels.size(), channels_));
        const mean_waveforms* const means = content_.waveforms;
        if (means != nullptr &&
            (means->group_count() != groups_ || means->channel_count != channels_))
            throw invalid_argument("the mean waveforms are not those of the units and channels");
    }

    void write() const {
        write_parameters();
        write_spikes();
        write_channels();
        // phylib drops dimensions of length 1 and would then misread the others.
        if (content_.waveforms != nullptr && groups_ > 1)
            write_array(folder_ / "templates.npy", io::npy_kind::real,
                        {groups_, content_.waveforms->frame_count, channels_},
                        content_.waveforms->values);
        if (width_ > 1 && order_.size() > 1 && groups_ > 1) write_features();
        write_clusters();
    }

private:
    void write_parameters() const {
        std::string raw;
        for (const char c : content_.raw.string()) {
            if (c == '\'' || c == '\\') raw += '\\';
            raw += c;
        }
        write_text(folder_ / "params.py",
                   fmt::format("dat_path = {}\nn_channels_dat = {}\ndtype = 'int16'\noffset = {}\n"
                               "sample_rate = {}\nhp_filtered = False\n{}",
                               raw.empty() ? "[]" : "'" + raw + "'", channels_,
                               content_.raw_offset_bytes, real(sorted_.sample_rate), begin()));
    }

    // Phy counts samples from the first, and passes over names that it does not know.
    std::string begin() const {
        if (sorted_.begin == duration{0}) return {};
        return fmt::format("t_start = {}\n", real(to_seconds(sorted_.begin)));
    }

    // Python would read "30000" as an integer.
    static std::string real(double value) {
        std::string text = fmt::format("{}", value);
        if (text.find_first_of(".en") == std::string::npos) text += ".0";
        return text;
    }

    void write_spikes() const {
        const std::size_t n = order_.size();
        std::vector<std::int64_t> times(n);
        std::vector<std::int32_t> clusters(n);
        std::vector<double> amplitudes(n);
        for (std::size_t i = 0; i < n; ++i) {
            times[i] = sorted_.samples[order_[i]];
            clusters[i] = static_cast<std::int32_t>(sorted_.labels[order_[i]]);
            amplitudes[i] = amplitude(order_[i]);
        }
        write_array(folder_ / "spike_times.npy", io::npy_kind::integer, {n}, times);
        for (const char* name : {"spike_templates.npy", "spike_clusters.npy"})
            write_array(folder_ / name, io::npy_kind::integer, {n}, clusters);
        write_array(folder_ / "amplitudes.npy", io::npy_kind::real, {n}, amplitudes);
    }

    // The amplitude on the channel with the largest features.
    double amplitude(std::size_t spike) const {
        double most = 0;
        double squares = 0;
        content_.features.for_each_known(spike, [&](std::size_t i, double x) {
            if (i % width_ == 0) squares = 0;
            squares += x * x;
            if (i % width_ + 1 == width_) most = std::max(most, squares);
        });
        return std::sqrt(most);
    }

    void write_channels() const {
        std::vector<std::int32_t> map(channels_);
        std::iota(map.begin(), map.end(), 0);
        std::vector<std::int32_t> shanks(channels_);
        std::vector<double> places;
        places.reserve(2 * channels_);
        for (std::size_t c = 0; c < channels_; ++c) {
            const bool known = !content_.channels.empty();
            places.push_back(known ? content_.channels[c].x_um : 0.0);
            places.push_back(known ? content_.channels[c].y_um
                                   : line_step_um * static_cast<double>(c));
            if (known) shanks[c] = static_cast<std::int32_t>(content_.channels[c].shank);
        }
        write_array(folder_ / "channel_map.npy", io::npy_kind::integer, {channels_}, map);
        write_array(folder_ / "channel_shanks.npy", io::npy_kind::integer, {channels_}, shanks);
        write_array(folder_ / "channel_positions.npy", io::npy_kind::real, {channels_, 2}, places);
    }

    // For each group, the channels with the largest sums of masks; among equal sums the lower
    // channel is first.
    std::vector<std::int32_t> feature_channels(std::size_t kept) const {
        std::vector<double> masks(groups_ * channels_);
        for (std::size_t n = 0; n < order_.size(); ++n) {
            const auto columns = content_.features.unmasked(n);
            for (std::size_t a = 0; a < columns.size(); ++a)
                masks[sorted_.labels[n] * channels_ + columns[a] / width_] +=
                    content_.features.mask_values(n)[a];
        }
        std::vector<std::int32_t> out;
        out.reserve(groups_ * kept);
        std::vector<std::int32_t> all(channels_);
        for (std::size_t g = 0; g < groups_; ++g) {
            const std::span<const double> own = std::span{masks}.subspan(g * channels_, channels_);
            std::iota(all.begin(), all.end(), 0);
            std::stable_sort(all.begin(), all.end(), [&](std::int32_t a, std::int32_t b) {
                return own[static_cast<std::size_t>(a)] > own[static_cast<std::size_t>(b)];
            });
            out.insert(out.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept));
        }
        return out;
    }

    void write_features() const {
        const std::size_t kept = std::min(channels_, most_feature_channels);
        const std::vector<std::int32_t> where = feature_channels(kept);
        write_array(folder_ / "pc_feature_ind.npy", io::npy_kind::integer, {groups_, kept}, where);
        array_file file(folder_ / "pc_features.npy", io::npy_kind::real, sizeof(float),
                        {order_.size(), width_, kept});
        std::vector<float> row(width_ * kept);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            core::stop_at_times(i, run_.stop);
            const std::size_t group = sorted_.labels[order_[i]];
            for (std::size_t k = 0; k < kept; ++k) {
                const auto channel = static_cast<std::size_t>(where[group * kept + k]);
                for (std::size_t part = 0; part < width_; ++part)
                    row[part * kept + k] = static_cast<float>(
                        content_.features.value(order_[i], channel * width_ + part));
            }
            file.add(std::span<const float>(row));
        }
        file.commit();
    }

    void write_clusters() const {
        const bool noise =
            std::find(sorted_.labels.begin(), sorted_.labels.end(), 0U) != sorted_.labels.end();
        std::string groups = "cluster_id\tgroup\n";
        std::string quality = "cluster_id";
        each_figure([&](const char* name, auto /*member*/, std::string_view /*help*/) {
            quality += fmt::format("\t{}", name);
        });
        quality += "\treason\tpossibly_one_neuron_with\tcross_talk_with\n";
        if (noise) {
            groups += "0\tnoise\n";
            quality += fmt::format("0{:\t>15}\n", "");
        }
        for (std::size_t u = 0; u < content_.units.size(); ++u) {
            const unit_quality& one = content_.units[u].quality;
            const unit_verdict& verdict = content_.units[u].verdict;
            groups += fmt::format("{}\t{}\n", u + 1, to_string(verdict.label));
            quality += fmt::format("{}", u + 1);
            each_figure([&](const char* /*name*/, auto member, std::string_view /*help*/) {
                const std::optional<double>& value = one.*member;
                quality += value ? fmt::format("\t{:.6g}", *value) : "\t";
            });
            quality +=
                fmt::format("\t{}\t{}\t{}\n", verdict.reason, content_.units[u].one_neuron_with,
                            content_.units[u].cross_talk_with);
        }
        write_text(folder_ / "cluster_group.tsv", groups);
        write_text(folder_ / "cluster_quality.tsv", quality);
    }

    const fs::path& folder_;
    const phy_content& content_;
    const execution& run_;
    const sorting& sorted_;
    std::size_t width_ = 1;
    std::size_t channels_ = 0;
    std::size_t groups_ = 0;
    std::vector<std::uint32_t> order_{};
};

}  // namespace

fs::path raw_samples_of(const recording& from) {
    const recording_description& what = from.description();
    if (what.files.empty() || what.format == recording_format::nwb) return {};
    const fs::path& samples = what.files.front();
    std::error_code unknown;
    const std::uintmax_t bytes = fs::file_size(samples, unknown);
    const std::uint64_t expected =
        what.header_bytes + from.frame_count() * from.channel_count() * sizeof(std::int16_t);
    return !unknown && bytes == expected ? fs::absolute(samples) : fs::path{};
}

void write_phy(const fs::path& folder, const phy_content& content, const execution& run) {
    if (!content.sorted.has_times() ||
        content.sorted.samples.size() != content.sorted.labels.size())
        throw invalid_argument("the times of these spikes are not known in seconds");
    const phy_writer writer(folder, content, run);
    writer.check();
    std::error_code error;
    if (!fs::create_directory(folder, error))
        throw io::file_error(
            folder, error ? "cannot be made: " + error.message() : std::string("exists already"));
    writer.write();
}

}  // namespace spikeweave
