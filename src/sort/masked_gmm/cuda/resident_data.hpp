#pragma once

#include <cstdint>
#include <vector>

#include "device/cuda.hpp"
#include "sort/masked_gmm/sparse_data.hpp"

namespace spikeweave::masked_gmm {

/// The `sparse_data` in the memory of a GPU: the unmasked features of a spike are contiguous.
struct device_rows {
    std::uint32_t features;
    const std::uint64_t* begin;
    const std::uint32_t* columns;
    const double* masks;
    const double* deltas;
    const double* etas;
    const double* noise_variance;
};

/// A `spike_group` whose values are stored feature by feature, so that neighbouring threads read
/// neighbouring spikes.
struct device_group {
    std::uint32_t features;
    std::uint32_t spikes;
    std::uint32_t padded;        ///< spikes in whole tiles; the padding is 0
    std::uint32_t first;         ///< index into `group_spikes`
    std::uint32_t first_column;  ///< index into `group_columns`
    std::uint64_t values;        ///< index of its first value; it has features x padded values
};

/// Spikes that a block processes at once.
inline constexpr std::uint32_t tile_spikes = 128;
/// The rules by which groups are formed for a GPU: gathering a coefficient takes as long in memory
/// as its use for this many spikes takes in arithmetic, and on average half a tile of each group is
/// empty.
inline group_rules device_group_rules(std::uint32_t most_columns) {
    return {.gather_cost = 192, .most_columns = most_columns, .looked_at = 4096};
}

class resident_data {
public:
    /// @param most_columns  of a group; groups with more are wide
    resident_data(const sparse_data& data, std::uint32_t most_columns, const device::stream& on);

    device_rows rows() const;
    /// The groups that are not wide.
    const std::vector<device_group>& groups() const { return groups_; }
    const device_group* device_groups_list() const { return on_device_.data(); }
    const std::uint32_t* group_spikes() const { return group_spikes_.data(); }
    const std::uint32_t* group_columns() const { return group_columns_.data(); }
    const double* group_deltas() const { return group_deltas_.data(); }
    /// Squared deltas plus their etas.
    const double* group_squares() const { return group_squares_.data(); }
    /// The spikes of wide groups.
    const std::vector<std::uint32_t>& wide_spikes() const { return wide_; }

private:
    void fill_groups(const sparse_data& data, std::uint32_t most_columns, const device::stream& on);

    std::uint32_t features_ = 0;
    device::buffer<std::uint64_t> begin_;
    device::buffer<std::uint32_t> columns_;
    device::buffer<double> masks_;
    device::buffer<double> deltas_;
    device::buffer<double> etas_;
    device::buffer<double> noise_variance_;
    std::vector<device_group> groups_;
    std::vector<std::uint32_t> wide_;
    device::buffer<device_group> on_device_;
    device::buffer<std::uint32_t> group_spikes_;
    device::buffer<std::uint32_t> group_columns_;
    device::buffer<double> group_deltas_;
    device::buffer<double> group_squares_;
};

}  // namespace spikeweave::masked_gmm
