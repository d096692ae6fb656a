#include "fuzz/features.hpp"

#include <vector>

#include "io/npy.hpp"

namespace spikeweave::fuzz {
namespace {

template <class Item>
std::string npy_file(io::npy_kind kind, const std::vector<Item>& items,
                     std::vector<std::uint64_t> shape) {
    std::string out = io::format_npy_header({kind, sizeof(Item), false, std::move(shape)});
    return out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item));
}

std::string as_npz(const feature_file& file) {
    const spike_features& features = file.features;
    const std::vector<std::uint64_t> shape{features.size(), features.feature_count()};
    std::vector<double> masks(features.values().size());
    for (std::size_t n = 0; n < features.size(); ++n)
        for (std::size_t i = 0; i < features.unmasked(n).size(); ++i)
            masks[n * features.feature_count() + features.unmasked(n)[i]] =
                features.mask_values(n)[i];
    const std::vector<double> values(features.values().begin(), features.values().end());
    named_bytes arrays{{"features.npy", npy_file(io::npy_kind::real, values, shape)},
                       {"masks.npy", npy_file(io::npy_kind::real, masks, shape)}};
    if (!file.samples.empty())
        arrays.emplace_back("samples.npy",
                            npy_file(io::npy_kind::integer, file.samples, {file.samples.size()}));
    return zip_of(arrays);
}

}  // namespace

void read_features_and_write_again(const temporary_folder& folder,
                                   const std::filesystem::path& path,
                                   const feature_read_options& how) {
    feature_file first;
    try {
        first = read_features(path, how, one_thread());
    } catch (const io_error& error) {
        check_message(error.what());
        if (how.mask) throw;
        feature_read_options without_masks = how;
        without_masks.mask = mask_rule::all;
        first = read_features(path, without_masks, one_thread());
    }
    const feature_file second =
        read_features(folder.file("again.npz", as_npz(first)), {}, one_thread());
    require(second.features == first.features && second.samples == first.samples,
            "features come back as others");
}

}  // namespace spikeweave::fuzz
