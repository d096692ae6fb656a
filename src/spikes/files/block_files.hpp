#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "spikes/files/readers.hpp"
#include "spikeweave/spikes/spike_blocks.hpp"

namespace spikeweave::spikes {

/// Numbers units by their first spike.
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

/// A file that is read block by block, from its beginning.
class block_file {
public:
    block_file() = default;
    block_file(const block_file&) = delete;
    block_file(block_file&&) = delete;
    block_file& operator=(const block_file&) = delete;
    block_file& operator=(block_file&&) = delete;
    virtual ~block_file() = default;

    /// Replaces `block` by the next spikes, in the order of the file.
    /// @return false at the end
    /// @throws io_error
    virtual bool next(spike_block& block) = 0;
    /// Where the file has a spike of the last block: "line 7" or "row 7".
    virtual std::string place_of(std::size_t spike) const = 0;
};

/// Opens a file. @throws io_error if it is neither text nor npy.
std::unique_ptr<block_file> open_block_file(const reading& job, unit_numbers_by_name& units);

}  // namespace spikeweave::spikes
