#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/files/neuropixels.hpp"
#include "spikeweave/record/recording.hpp"

namespace spikeweave::record {

/// Returns the number that the whole text is.
std::optional<std::uint64_t> whole_number_in(std::string_view text);
std::optional<double> number_in(std::string_view text);

/// The lines `key=value` of a `.meta` file. Keys of lists begin with '~', which is removed. All
/// errors are io_error and name the file and the key.
class meta_file {
public:
    /// @throws io_error if it cannot be read or is larger than 16 MiB.
    explicit meta_file(std::filesystem::path path);

    const std::filesystem::path& path() const { return path_; }
    /// Whether there is such a key, with a value.
    bool has(const std::string& key) const;
    const std::string& text(const std::string& key) const;
    /// A number of at least 0.
    double number(const std::string& key) const;
    std::uint64_t whole_number(const std::string& key) const;
    /// As many numbers as `count`, separated by commas.
    std::vector<std::uint64_t> numbers(const std::string& key, std::size_t count) const;
    /// The parts in brackets of "(head)(entry)(entry)".
    std::vector<std::string_view> list(const std::string& key) const;
    [[noreturn]] void fail(const std::string& key, const std::string& why) const;

private:
    std::filesystem::path path_;
    std::map<std::string, std::string> values_;
};

/// The entries of a `.meta` file about its Neuropixels probe. A channel is the number of a readout
/// of one band, from 0.
class spikeglx_probe {
public:
    /// @throws io_error if `imroTbl` is not as its kind of probe has it.
    explicit spikeglx_probe(const meta_file& meta);

    /// Microvolts per count.
    /// @throws io_error if neither the file nor the table of probes has it.
    double gain_uv(std::uint64_t channel, bool is_lf) const;

    /// Places the stored channels; `numbers` are their channels of the probe.
    /// @throws io_error if neither the file nor the table of probes has their positions.
    void place(const std::vector<std::uint64_t>& numbers,
               std::vector<recording_channel>& channels) const;

    /// Warnings for the user, as full sentences.
    std::vector<std::string> warnings() const;

private:
    /// The connection of a channel, and its gains (0: that of the model).
    struct readout {
        std::uint32_t shank = 0;
        std::uint32_t contact = 0;
        double ap_gain = 0;
        double lf_gain = 0;
    };

    void identify();
    void read_table();
    readout read_entry(std::string_view entry, imro_layout layout) const;
    void read_groups(const std::vector<std::string_view>& table);
    void place_by_table(const std::vector<std::uint64_t>& numbers,
                        std::vector<recording_channel>& channels) const;
    bool place_by_map(const char* key, const std::vector<std::uint64_t>& numbers,
                      std::vector<recording_channel>& channels) const;
    bool lists_gains() const;

    const meta_file& meta_;
    /// Null if the probe is not known.
    const neuropixels_model* model_ = nullptr;
    /// The name of the probe in the file, and its key; empty if it does not.
    std::string named_{};
    std::string named_by_{};
    std::vector<readout> readouts_{};
};

}  // namespace spikeweave::record
