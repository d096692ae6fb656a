#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/zip_reader.hpp"
#include "io/zip_writer.hpp"
#include "sort/masked_gmm/model_parts.hpp"
#include "sort/whole_array.hpp"

namespace spikeweave {
namespace {

using masked_gmm::cluster_fit;
using reals = std::vector<double>;
using wholes = std::vector<std::int64_t>;

constexpr std::int64_t version = 1;

template <class Item>
void write_array(io::zip_writer& archive, const char* name, const std::vector<Item>& items) {
    constexpr auto kind =
        std::is_floating_point_v<Item> ? io::npy_kind::real : io::npy_kind::integer;
    archive.begin(fmt::format("{}.npy", name));
    archive.write(io::format_npy_header({kind, sizeof(Item), false, {items.size()}}));
    archive.write({reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)});
}

class model_reader {
public:
    explicit model_reader(const std::filesystem::path& path) : path_(path), archive_(path) {}

    template <class Item>
    std::vector<Item> read(const char* name, std::uint64_t expected) const {
        const auto* const entry = archive_.find(fmt::format("{}.npy", name));
        if (entry == nullptr)
            throw io::file_error(path_, fmt::format("has no array '{}', expected a model that "
                                                    "spikeweave wrote",
                                                    name));
        io::npy_reader array(archive_.open(*entry),
                             fmt::format("'{}', array '{}'", path_.string(), name));
        if (expected != any && array.header().count() != expected)
            throw io_error(fmt::format("{}: found {} numbers, expected {}", array.what(),
                                       array.header().count(), expected));
        auto items = read_whole<Item>(array);
        for (std::size_t i = 0; i < items.size(); ++i)
            if (!std::isfinite(static_cast<double>(items[i])))
                fail(name, i, static_cast<double>(items[i]), "a finite number");
        return items;
    }

    // Numbers from `least` on, up to `most`.
    template <class Item>
    std::vector<Item> read(const char* name, std::uint64_t expected, Item least, Item most) const {
        std::vector<Item> items = read<Item>(name, expected);
        for (std::size_t i = 0; i < items.size(); ++i)
            if (items[i] < least || items[i] > most)
                fail(name, i, static_cast<double>(items[i]),
                     fmt::format("{:g} to {:g}", static_cast<double>(least),
                                 static_cast<double>(most)));
        return items;
    }

    [[noreturn]] void fail(const char* name, std::size_t at, double found,
                           const std::string& expected) const {
        throw io::file_error(path_, fmt::format("array '{}', number {}", name, at + 1),
                             fmt::format("found {}, expected {}", found, expected));
    }

    static constexpr auto any = std::numeric_limits<std::uint64_t>::max();

private:
    std::filesystem::path path_;
    io::zip_reader archive_;
};

constexpr double largest_real = std::numeric_limits<double>::max();
constexpr double smallest_real = std::numeric_limits<double>::min();

masked_gmm::feature_space read_space(const model_reader& file) {
    masked_gmm::feature_space space{.low = file.read<double>("low", model_reader::any)};
    const std::size_t features = space.low.size();
    if (features == 0) file.fail("low", 0, 0, "a feature");
    space.range = file.read<double>("range", features, smallest_real, largest_real);
    space.noise.mean = file.read<double>("noise_mean", features);
    space.noise.variance =
        file.read<double>("noise_variance", features, smallest_real, largest_real);
    return space;
}

// The lower triangle's rows, one after another.
void set_root(const reals& roots, std::size_t at, cluster_fit& fit) {
    const auto u = static_cast<Eigen::Index>(fit.block.size());
    fit.root_inverse = Eigen::MatrixXd::Zero(u, u);
    for (Eigen::Index i = 0; i < u; ++i)
        for (Eigen::Index j = 0; j <= i; ++j) fit.root_inverse(i, j) = roots[at++];
    fit.inverse = fit.root_inverse.transpose() * fit.root_inverse;
}

std::size_t root_size(std::size_t block) {
    return block * (block + 1) / 2;
}

// Blocks of each unit, ascending.
std::vector<std::vector<std::uint32_t>> read_blocks(const model_reader& file, std::size_t units,
                                                    std::size_t features) {
    const auto most = static_cast<std::int64_t>(features);
    const wholes sizes = file.read<std::int64_t>("block_sizes", units, 0, most);
    std::uint64_t all = 0;
    for (const std::int64_t size : sizes) all += static_cast<std::uint64_t>(size);
    const wholes columns = file.read<std::int64_t>("block_features", all, 0, most - 1);
    std::vector<std::vector<std::uint32_t>> blocks(units);
    std::size_t at = 0;
    for (std::size_t k = 0; k < units; ++k) {
        for (std::int64_t b = 0; b < sizes[k]; ++b, ++at) {
            if (b > 0 && columns[at] <= columns[at - 1])
                file.fail("block_features", at, static_cast<double>(columns[at]),
                          fmt::format("more than {}", columns[at - 1]));
            blocks[k].push_back(static_cast<std::uint32_t>(columns[at]));
        }
    }
    return blocks;
}

void read_units(const model_reader& file, sorting_model::parts& model) {
    const std::size_t features = model.space.low.size();
    constexpr std::int64_t last_label = std::numeric_limits<std::uint32_t>::max() - 1;
    const wholes labels = file.read<std::int64_t>("units", model_reader::any, 1, last_label);
    const std::size_t units = labels.size();
    const reals weights = file.read<double>("weights", units, smallest_real, largest_real);
    const reals plain = file.read<double>("constants", units);
    const reals means = file.read<double>("means", units * features);
    const reals diagonals =
        file.read<double>("inverse_diagonals", units * features, smallest_real, largest_real);
    const auto blocks = read_blocks(file, units, features);
    std::uint64_t root_numbers = 0;
    for (const auto& block : blocks) root_numbers += root_size(block.size());
    const reals roots = file.read<double>("root_inverses", root_numbers);
    std::size_t root_at = 0;
    for (std::size_t k = 0; k < units; ++k) {
        if (k > 0 && labels[k] <= labels[k - 1])
            file.fail("units", k, static_cast<double>(labels[k]),
                      fmt::format("more than {}", labels[k - 1]));
        model.units.push_back(static_cast<std::uint32_t>(labels[k]));
        const auto begin = static_cast<std::ptrdiff_t>(k * features);
        const auto end = begin + static_cast<std::ptrdiff_t>(features);
        cluster_fit fit{.weight = weights[k],
                        .plain = plain[k],
                        .block = blocks[k],
                        .place = std::vector<std::int32_t>(features, -1),
                        .mean = {means.begin() + begin, means.begin() + end},
                        .inverse_diagonal = {diagonals.begin() + begin, diagonals.begin() + end}};
        for (std::size_t b = 0; b < fit.block.size(); ++b)
            fit.place[fit.block[b]] = static_cast<std::int32_t>(b);
        set_root(roots, root_at, fit);
        root_at += root_size(fit.block.size());
        masked_gmm::write_out_around_noise(fit);
        model.fits.push_back(std::move(fit));
    }
}

}  // namespace

void write_model(const std::filesystem::path& path, const sorting_model& model) {
    const sorting_model::parts& what = model.inside();
    if (model.feature_count() == 0) throw invalid_argument("there is no model to write");
    reals weights;
    reals plain;
    reals means;
    reals diagonals;
    reals roots;
    wholes sizes;
    wholes columns;
    for (const cluster_fit& fit : what.fits) {
        weights.push_back(fit.weight);
        plain.push_back(fit.plain);
        means.insert(means.end(), fit.mean.begin(), fit.mean.end());
        diagonals.insert(diagonals.end(), fit.inverse_diagonal.begin(), fit.inverse_diagonal.end());
        sizes.push_back(static_cast<std::int64_t>(fit.block.size()));
        columns.insert(columns.end(), fit.block.begin(), fit.block.end());
        for (Eigen::Index i = 0; i < fit.root_inverse.rows(); ++i)
            for (Eigen::Index j = 0; j <= i; ++j) roots.push_back(fit.root_inverse(i, j));
    }
    io::zip_writer archive(path);
    write_array<std::int64_t>(archive, "model_version", {version});
    write_array(archive, "low", what.space.low);
    write_array(archive, "range", what.space.range);
    write_array(archive, "noise_mean", what.space.noise.mean);
    write_array(archive, "noise_variance", what.space.noise.variance);
    write_array(archive, "units", wholes(what.units.begin(), what.units.end()));
    write_array(archive, "weights", weights);
    write_array(archive, "constants", plain);
    write_array(archive, "means", means);
    write_array(archive, "inverse_diagonals", diagonals);
    write_array(archive, "block_sizes", sizes);
    write_array(archive, "block_features", columns);
    write_array(archive, "root_inverses", roots);
    write_array<double>(archive, "noise_cost", {what.noise_cost});
    write_array<double>(archive, "cost", {what.cost});
    write_array<std::int64_t>(archive, "spikes", {static_cast<std::int64_t>(what.spikes)});
    archive.commit();
}

sorting_model read_model(const std::filesystem::path& path) {
    const model_reader file(path);
    file.read<std::int64_t>("model_version", 1, version, version);
    sorting_model::parts model{.space = read_space(file)};
    read_units(file, model);
    model.noise_cost = file.read<double>("noise_cost", 1).front();
    model.cost = file.read<double>("cost", 1).front();
    model.spikes = static_cast<std::uint64_t>(
        file.read<std::int64_t>("spikes", 1, 1, std::numeric_limits<std::uint32_t>::max()).front());
    return sorting_model(std::make_shared<const sorting_model::parts>(std::move(model)));
}

}  // namespace spikeweave
