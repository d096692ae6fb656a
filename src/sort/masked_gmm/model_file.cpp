#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "io/file_error.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "sort/masked_gmm/model_parts.hpp"

namespace spikeweave {

using io::read_whole;

namespace {

// Results have a place for each number up to the largest one.
constexpr std::int64_t most_label = 32'767;

using masked_gmm::cluster_fit;
using reals = std::vector<double>;
using wholes = std::vector<std::int64_t>;

constexpr std::int64_t version_without_basis = 1;
constexpr std::int64_t version_with_basis = 2;

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

    // Reads numbers between `least` and `most`, both included.
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

// Reads the lower triangle row by row.
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

// Reads the block of each unit, in ascending order.
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
    const wholes labels = file.read<std::int64_t>("units", model_reader::any, 1, most_label);
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
                        .block_index = std::vector<std::int32_t>(features, -1),
                        .mean = {means.begin() + begin, means.begin() + end},
                        .inverse_diagonal = {diagonals.begin() + begin, diagonals.begin() + end}};
        for (std::size_t b = 0; b < fit.block.size(); ++b)
            fit.block_index[fit.block[b]] = static_cast<std::int32_t>(b);
        set_root(roots, root_at, fit);
        root_at += root_size(fit.block.size());
        masked_gmm::write_out_around_noise(fit);
        model.fits.push_back(std::move(fit));
    }
}

feature_basis read_basis(const model_reader& file, std::size_t features) {
    constexpr double most_hz = 1e9;
    constexpr std::int64_t most_frames = 1 << 24;
    constexpr std::int64_t last_shank = std::numeric_limits<std::uint32_t>::max();
    const wholes per_channel = file.read<std::int64_t>("basis_features_per_channel", 1, 1,
                                                       static_cast<std::int64_t>(features));
    const auto each = static_cast<std::size_t>(per_channel.front());
    if (features % each != 0)
        file.fail("basis_features_per_channel", 0, static_cast<double>(each),
                  fmt::format("a divisor of {} features", features));
    const std::size_t channels = features / each;
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
    const reals x = file.read<double>("basis_x_um", channels);
    const reals y = file.read<double>("basis_y_um", channels);
    const wholes shanks = file.read<std::int64_t>("basis_shanks", channels, 0, last_shank);
    for (std::size_t c = 0; c < channels; ++c)
        basis.contacts.push_back({x[c], y[c], static_cast<std::uint32_t>(shanks[c])});
    const reals components = file.read<double>("basis_components", features * basis.frames());
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

void write_into(io::zip_writer& archive, const sorting_model& model) {
    const sorting_model::parts& what = model.internals();
    if (model.feature_count() == 0) throw invalid_argument("there is no model to write");
    if (!model.units().empty() && model.units().back() > most_label)
        throw invalid_argument(fmt::format(
            "the model has the unit {}, expected numbers up to {}: number the units from 1",
            model.units().back(), most_label));
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
    write_array<std::int64_t>(archive, "model_version",
                              {what.basis ? version_with_basis : version_without_basis});
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
    if (what.basis) write_basis(archive, *what.basis);
}

}  // namespace

struct model_file::state {
    io::zip_writer archive;
};

model_file::model_file(const std::filesystem::path& path, const sorting_model& model,
                       bool overwrite)
    : state_(new state{io::zip_writer(path, overwrite)}) {
    write_into(state_->archive, model);
    state_->archive.finish();
}

model_file::~model_file() = default;

void model_file::commit() {
    state_->archive.commit();
}

void write_model(const std::filesystem::path& path, const sorting_model& model) {
    model_file(path, model, true).commit();
}

sorting_model read_model(const std::filesystem::path& path) {
    const model_reader file(path);
    const wholes version =
        file.read<std::int64_t>("model_version", 1, version_without_basis, version_with_basis);
    sorting_model::parts model{.space = read_space(file)};
    read_units(file, model);
    model.noise_cost = file.read<double>("noise_cost", 1).front();
    model.cost = file.read<double>("cost", 1).front();
    model.spikes = static_cast<std::uint64_t>(
        file.read<std::int64_t>("spikes", 1, 1, std::numeric_limits<std::uint32_t>::max()).front());
    if (version.front() == version_with_basis)
        model.basis = read_basis(file, model.space.low.size());
    return sorting_model(std::make_shared<const sorting_model::parts>(std::move(model)));
}

}  // namespace spikeweave
