#include "sort/files/model_arrays.hpp"

namespace spikeweave::sort {

feature_basis read_basis(const model_reader& file) {
    constexpr double most_hz = 1e9;
    constexpr std::int64_t most_frames = 1 << 24;
    constexpr std::int64_t last_shank = std::numeric_limits<std::uint32_t>::max();
    constexpr std::int64_t most_features = 1 << 10;
    const auto each = static_cast<std::size_t>(
        file.read<std::int64_t>("basis_features_per_channel", 1, 1, most_features).front());
    const reals band = file.read<double>("basis_band", 2, 0, most_hz);
    const wholes frames = file.read<std::int64_t>("basis_frames", 2, 0, most_frames);
    feature_basis basis{.rate_hz = file.read<double>("basis_rate", 1, 0, most_hz).front(),
                        .low_hz = band[0],
                        .high_hz = band[1],
                        .order = static_cast<std::uint32_t>(
                            file.read<std::int64_t>("basis_order", 1, 1, 8).front()),
                        .reference = file.read<std::int64_t>("basis_median", 1, 0, 1).front() == 1
                                         ? common_reference::median
                                         : common_reference::none,
                        .whiten = file.read<std::int64_t>("basis_whitened", 1, 0, 1).front() == 1,
                        .frames_before = static_cast<std::uint32_t>(frames[0]),
                        .frames_after = static_cast<std::uint32_t>(frames[1]),
                        .features_per_channel = static_cast<std::uint32_t>(each)};
    const reals x = file.read<double>("basis_x_um", model_reader::any);
    const std::size_t channels = x.size();
    const reals y = file.read<double>("basis_y_um", channels);
    const wholes shanks = file.read<std::int64_t>("basis_shanks", channels, 0, last_shank);
    for (std::size_t c = 0; c < channels; ++c)
        basis.contacts.push_back({x[c], y[c], static_cast<std::uint32_t>(shanks[c])});
    const reals components =
        file.read<double>("basis_components", basis.feature_count() * basis.frames());
    basis.components.assign(components.begin(), components.end());
    return basis;
}

void write_basis(io::zip_writer& archive, const feature_basis& basis) {
    reals x;
    reals y;
    wholes shanks;
    for (const feature_basis::contact& contact : basis.contacts) {
        x.push_back(contact.x_um);
        y.push_back(contact.y_um);
        shanks.push_back(contact.shank);
    }
    write_array<std::int64_t>(archive, "basis_features_per_channel", {basis.features_per_channel});
    write_array<double>(archive, "basis_band", {basis.low_hz, basis.high_hz});
    write_array<std::int64_t>(archive, "basis_frames", {basis.frames_before, basis.frames_after});
    write_array<double>(archive, "basis_rate", {basis.rate_hz});
    write_array<std::int64_t>(archive, "basis_order", {basis.order});
    write_array<std::int64_t>(archive, "basis_median",
                              {basis.reference == common_reference::median ? 1 : 0});
    write_array<std::int64_t>(archive, "basis_whitened", {basis.whiten ? 1 : 0});
    write_array(archive, "basis_x_um", x);
    write_array(archive, "basis_y_um", y);
    write_array(archive, "basis_shanks", shanks);
    write_array(archive, "basis_components",
                reals(basis.components.begin(), basis.components.end()));
}

}  // namespace spikeweave::sort
