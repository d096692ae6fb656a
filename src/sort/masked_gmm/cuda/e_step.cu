// The E-step: the costs of all spikes of a group in all clusters, as one product of matrices.
//
// A spike differs from noise in its few unmasked features only. The quadratic form of a cluster,
// expanded around the noise mean, is linear in the spike's deltas, their squares and their
// products. These terms of a tile of spikes are computed in registers from the deltas in shared
// memory. They are multiplied by coefficients that are gathered for all clusters beforehand from
// the inverse of each cluster, which is computed once per iteration. Only the two lowest costs of
// each spike leave the registers: nothing of size spikes x clusters is stored.
//
//   work per block    128 spikes x all clusters x (v^2 + 3 v) / 2 terms of the group's v features,
//                     on tensor cores; each term is computed once for 112 clusters
//   shared memory     the deltas, (v + 7) x 132 numbers, and a ring with the coefficients of three
//                     steps for 112 clusters, 43 KB
//   memory            a group's coefficients, which its tiles find in the second-level cache
//   pays off          compared with residuals times the inverse root: half the work if nothing is
//                     masked, and (v / u)^2 of that otherwise, for any number of channels

#include <algorithm>
#include <limits>

#include "device/copies.cuh"
#include "sort/masked_gmm/cuda/block_threads.cuh"
#include "sort/masked_gmm/cuda/coefficients.cuh"
#include "sort/masked_gmm/cuda/e_step.hpp"
#include "sort/masked_gmm/cuda/tensor_product.cuh"

namespace spikeweave::masked_gmm {
namespace {

using namespace gathered_terms;

constexpr unsigned most_products = 14;  // of a warp, side by side
constexpr unsigned warp_rows = tile_spikes / warps;
static_assert(warp_rows == 16, "a product has as many rows");
// Row length in shared memory: four consecutive rows lie in different banks.
template <class Real>
constexpr unsigned tile_stride = tile_spikes + 32 / sizeof(Real);
// Rows of zeros after the deltas, read by the terms that fill up a step.
constexpr unsigned spare_rows = 6;
// A coefficient has 8 bytes; a lane reads four consecutive ones.
constexpr unsigned fragment_bytes = fragment_numbers * 8;
constexpr unsigned stages = 3;
constexpr unsigned stage_bytes = most_products * fragment_bytes;
constexpr std::uint64_t most_numbers = std::uint64_t{1} << 25;  // coefficients held at once

template <class Real>
constexpr std::size_t shared_bytes(unsigned features) {
    return stages * stage_bytes +
           std::size_t{1 + features + spare_rows} * tile_stride<Real> * sizeof(Real);
}

// The factors of products in the order in which lanes read them; row 0 is 1, row i + 1 is delta i.
// The products of fewer features are first.
std::vector<uint4> pairs_of(unsigned features) {
    std::vector<unsigned> codes;
    for (unsigned b = 1; codes.size() < std::size_t{product_steps(features)} * step_terms; ++b)
        for (unsigned a = 0; a < b; ++a) codes.push_back(b << 16 | a);
    std::vector<uint4> pairs;
    for (unsigned step = 0; step < product_steps(features); ++step) {
        for (unsigned t = 0; t < 4; ++t) {
            const unsigned* const at = codes.data() + std::size_t{step} * step_terms + t;
            pairs.push_back({at[0], at[4], at[8], at[12]});
        }
    }
    return pairs;
}

struct evaluation {
    const uint2* tiles;          // group and first spike of each tile of the batch
    const device_group* groups;  // all groups
    const std::uint64_t* begin;  // first coefficient of each group of the batch
    unsigned first_group;        // first group of the batch
    const std::uint32_t* spikes;
    const double* deltas;
    const double* squares;
    const uint4* pairs;
    const double* coefficients;
    const double* plain;
    unsigned clusters;
    unsigned column_products;
    double noise_cost;
    std::uint32_t* best;  // best and second cluster of each spike
    double* costs;        // their costs
};

// The two lowest of the costs offered so far; of equal costs, that of the lower cluster.
struct least_two {
    double cost;
    double second_cost;
    std::uint32_t cluster;
    std::uint32_t second;

    __device__ void offer(double offered, std::uint32_t by) {
        if (offered < cost || (offered == cost && by < cluster)) {
            second_cost = cost;
            second = cluster;
            cost = offered;
            cluster = by;
        } else if (offered < second_cost || (offered == second_cost && by < second)) {
            second_cost = offered;
            second = by;
        }
    }
    __device__ void offer_from(unsigned lanes_away) {
        constexpr unsigned all = 0xffffffffU;
        const double one = __shfl_xor_sync(all, cost, lanes_away);
        const double two = __shfl_xor_sync(all, second_cost, lanes_away);
        const std::uint32_t by_one = __shfl_xor_sync(all, cluster, lanes_away);
        const std::uint32_t by_two = __shfl_xor_sync(all, second, lanes_away);
        offer(one, by_one);
        offer(two, by_two);
    }
};

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
constexpr double infinite = std::numeric_limits<double>::infinity();

// Two neighbouring spikes.
template <class Real>
struct alignas(2 * sizeof(Real)) two {
    Real x;
    Real y;
};

// The factors of the terms of a step: those of two spikes for each of a lane's four terms.
template <class Real>
struct factors {
    two<Real> left[4];
    two<Real> right[4];

    __device__ __forceinline__ void multiply(Real (&terms)[8]) const {
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            terms[2 * i] = left[i].x * right[i].x;
            terms[2 * i + 1] = left[i].y * right[i].y;
        }
    }
};

template <class Real>
__device__ __forceinline__ void load(const evaluation& p, const device_group& group,
                                     unsigned tile_first, const Real* rows, unsigned spike,
                                     unsigned step, factors<Real>& into) {
    const unsigned t = threadIdx.x % 4;
    const unsigned of_products = product_steps(group.features);
    if (step < of_products) {
        const uint4 pair = p.pairs[step * 4 + t];
        const unsigned codes[4] = {pair.x, pair.y, pair.z, pair.w};
#pragma unroll
        for (unsigned i = 0; i < 4; ++i) {
            const unsigned x = (codes[i] & 0xffffU) * tile_stride<Real> + spike;
            const unsigned y = (codes[i] >> 16) * tile_stride<Real> + spike;
            into.left[i] = *reinterpret_cast<const two<Real>*>(rows + x);
            into.right[i] = *reinterpret_cast<const two<Real>*>(rows + y);
        }
        return;
    }
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned own = (step - of_products) * step_terms + t + 4 * i;
        double2 square{0, 0};
        if (own < group.features)
            square = *reinterpret_cast<const double2*>(
                p.squares + group.values + std::size_t{own} * group.padded + tile_first + spike);
        into.left[i] = {static_cast<Real>(square.x), static_cast<Real>(square.y)};
        into.right[i] = {1, 1};
    }
}

// Starts copying the coefficients of some clusters for one step to shared memory.
__device__ __forceinline__ void fetch(const double* from, unsigned bytes, char* to) {
    const auto* const source = reinterpret_cast<const char*>(from);
    for (unsigned at = threadIdx.x * 16; at < bytes; at += threads * 16)
        device::start_copy<16>(to + at, source + at);
}

// Multiplies a warp's 16 spikes by `count` groups of eight clusters from `first` on. All warps of
// the block call this together with the same coefficients.
template <class Real>
__device__ __forceinline__ void multiply(const evaluation& p, const device_group& group,
                                         unsigned tile_first, const Real* rows, unsigned spike,
                                         const double* coefficients, unsigned first, unsigned count,
                                         char* ring, Real (&sum)[most_products][4]) {
    const unsigned all = steps(group.features);
    const std::size_t step_numbers = std::size_t{p.column_products} * fragment_numbers;
    const unsigned bytes = count * fragment_bytes;
    coefficients += std::size_t{first} * fragment_numbers;
    __syncthreads();  // other warps may still read the ring
    for (unsigned step = 0; step + 1 < stages; ++step) {
        if (step < all) fetch(coefficients + step * step_numbers, bytes, ring + step * stage_bytes);
        device::end_copy_group();
    }
    factors<Real> next_factors;
    Real terms[8];
    if (all > 0) load(p, group, tile_first, rows, spike, 0, next_factors);
    for (unsigned step = 0; step < all; ++step) {
        next_factors.multiply(terms);
        device::wait_for_all_but_one_copy_group();
        __syncthreads();
        const unsigned later = step + stages - 1;
        if (later < all)
            fetch(coefficients + later * step_numbers, bytes, ring + later % stages * stage_bytes);
        device::end_copy_group();
        // The next factors are loaded while this step's products are computed.
        if (step + 1 < all) load(p, group, tile_first, rows, spike, step + 1, next_factors);
        tensor_product<Real>::multiply_add(sum, terms, ring + step % stages * stage_bytes, count);
    }
}

// Each block evaluates a tile of spikes in all clusters, one after another.
template <class Real>
__global__ void __launch_bounds__(threads, 1) find_least(const evaluation p) {
    extern __shared__ double2 shared[];
    auto* const ring = reinterpret_cast<char*>(shared);
    auto* const rows = reinterpret_cast<Real*>(ring + stages * stage_bytes);
    const uint2 tile = p.tiles[blockIdx.x];
    const device_group group = p.groups[tile.x];
    const unsigned used = (1 + group.features + spare_rows) * tile_spikes;
    for (unsigned at = threadIdx.x; at < used; at += threads) {
        const unsigned row = at / tile_spikes;
        const unsigned s = at % tile_spikes;
        double value = row == 0 ? 1 : 0;
        if (row > 0 && row <= group.features)
            value = p.deltas[group.values + std::size_t{row - 1} * group.padded + tile.y + s];
        rows[row * tile_stride<Real> + s] = static_cast<Real>(value);
    }

    const unsigned lane = threadIdx.x % warp;
    // The rows of a lane in a product are two neighbouring spikes.
    const unsigned spike = threadIdx.x / warp * warp_rows + lane / 4 * 2;
    least_two least[2];
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) least[r] = {infinite, infinite, nobody, nobody};

    // The groups of eight clusters are divided evenly, in order.
    const unsigned shares = pieces(p.column_products, most_products);
    const double* const coefficients = p.coefficients + p.begin[tile.x - p.first_group];
    for (unsigned share = 0; share < shares; ++share) {
        const unsigned first = p.column_products * share / shares;
        const unsigned count = p.column_products * (share + 1) / shares - first;
        Real sum[most_products][4] = {};
        multiply(p, group, tile.y, rows, spike, coefficients, first, count, ring, sum);
#pragma unroll
        for (unsigned j = 0; j < most_products; ++j) {
#pragma unroll
            for (unsigned c = 0; c < 2; ++c) {
                const unsigned cluster = (first + j) * columns_at_once + lane % 4 * 2 + c;
                if (j >= count || cluster >= p.clusters) continue;
                const double plain = p.plain[cluster];
                if (isinf(plain)) continue;
#pragma unroll
                for (unsigned r = 0; r < 2; ++r)
                    least[r].offer(plain + static_cast<double>(sum[j][2 * r + c]), cluster + 1);
            }
        }
    }
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
        least[r].offer_from(1);
        least[r].offer_from(2);
        least[r].offer(p.noise_cost, 0);
        if (lane % 4 != 0 || tile.y + spike + r >= group.spikes) continue;
        const std::size_t n = 2 * std::size_t{p.spikes[group.first + tile.y + spike + r]};
        p.best[n] = least[r].cluster;
        p.best[n + 1] = least[r].second;
        p.costs[n] = least[r].cost;
        p.costs[n + 1] = least[r].second_cost;
    }
}

struct batch_size {
    unsigned groups;
    unsigned tiles;
    unsigned most_features;
};

template <class Real>
void launch(const gathering& gathered, const evaluation& evaluated, const device_fits& fits,
            const batch_size& size, const device::stream& on) {
    if (gathered.column_products > 0) {
        gather_all<Real>(gathered, fits, size.groups, on);
    }
    find_least<Real>
        <<<size.tiles, threads, shared_bytes<Real>(size.most_features), on.get()>>>(evaluated);
    device::check(cudaGetLastError());
}

// Pairs have 16 bits for a row; more rows would be slow to multiply anyway.
constexpr std::uint32_t most_rows = 1024;

}  // namespace

std::uint32_t e_step::most_columns(const device::device_limits& limits) {
    std::uint32_t columns = 0;
    while (columns < most_rows &&
           shared_bytes<double>(columns + 1) <= limits.shared_bytes_per_block_at_most)
        ++columns;
    return columns;
}

e_step::e_step(const resident_data& data, std::size_t spikes, bool single)
    : data_(&data),
      spikes_(spikes),
      single_(single),
      best_here_(2 * spikes),
      costs_here_(2 * spikes) {
    std::vector<uint2> tiles;
    for (std::uint32_t g = 0; g < data.groups().size(); ++g) {
        const device_group& group = data.groups()[g];
        most_features_ = std::max(most_features_, group.features);
        first_tile_.push_back(static_cast<std::uint32_t>(tiles.size()));
        for (std::uint32_t at = 0; at < group.padded; at += tile_spikes) tiles.push_back({g, at});
    }
    first_tile_.push_back(static_cast<std::uint32_t>(tiles.size()));
    tiles_ = {tiles, main_};
    pairs_ = {pairs_of(most_features_), main_};
    best_ = {2 * spikes, main_};
    costs_ = {2 * spikes, main_};
    const auto allow = [](const void* kernel, std::size_t bytes) {
        device::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           static_cast<int>(bytes)));
    };
    allow(reinterpret_cast<const void*>(&find_least<double>), shared_bytes<double>(most_features_));
    allow(reinterpret_cast<const void*>(&find_least<float>), shared_bytes<float>(most_features_));
    main_.wait();
}

std::vector<e_step::batch> e_step::batches_of(std::uint32_t clusters,
                                              std::vector<std::uint64_t>& begin) const {
    const std::uint64_t columns = pieces(clusters, columns_at_once);
    std::vector<batch> all;
    for (std::uint32_t g = 0; g < data_->groups().size(); ++g) {
        const std::uint64_t numbers =
            steps(data_->groups()[g].features) * columns * fragment_numbers;
        constexpr std::uint32_t most_groups = 65535;  // limit of the second dimension of a grid
        if (all.empty() || all.back().numbers + numbers > most_numbers ||
            all.back().groups == most_groups)
            all.push_back({.first_group = g, .first_tile = first_tile_[g]});
        begin.push_back(all.back().numbers);
        all.back().numbers += numbers;
        all.back().most_features = std::max(all.back().most_features, data_->groups()[g].features);
        ++all.back().groups;
        all.back().tiles = first_tile_[g + 1] - all.back().first_tile;
    }
    return all;
}

void e_step::take_results(assignment& found) const {
    for (std::size_t n = 0; n < spikes_; ++n) {
        found.best[n] = best_here_.data()[2 * n];
        found.second[n] = best_here_.data()[2 * n + 1];
        found.best_cost[n] = costs_here_.data()[2 * n];
        found.second_cost[n] = costs_here_.data()[2 * n + 1];
    }
}

void e_step::evaluate(const device_fits& fits, const std::vector<double>& plain, double noise_cost,
                      assignment& found) {
    std::vector<std::uint64_t> begin;
    const std::vector<batch> batches = batches_of(fits.clusters, begin);
    make_room(plain_, plain.size(), main_);
    plain_.upload(plain);
    make_room(begin_, begin.size(), main_);
    begin_.upload(begin);
    std::uint64_t most = 0;
    for (const batch& one : batches) most = std::max(most, one.numbers);
    make_room(coefficients_, most, main_);
    if (batches.size() > 1) make_room(other_coefficients_, most, other_);
    const unsigned columns = pieces(fits.clusters, columns_at_once);
    watch_.start(main_);
    ready_.record(main_);
    ready_.make_wait(other_);
    // The coefficients of one batch are gathered during the products of the batch before.
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const batch& one = batches[i];
        const device::stream& on = i % 2 == 0 ? main_ : other_;
        double* const coefficients = i % 2 == 0 ? coefficients_.data() : other_coefficients_.data();
        const gathering gathered{data_->device_groups_list() + one.first_group,
                                 begin_.data() + one.first_group,
                                 data_->group_columns(),
                                 pairs_.data(),
                                 plain_.data(),
                                 columns,
                                 coefficients};
        const evaluation evaluated{tiles_.data() + one.first_tile,
                                   data_->device_groups_list(),
                                   begin_.data() + one.first_group,
                                   one.first_group,
                                   data_->group_spikes(),
                                   data_->group_deltas(),
                                   data_->group_squares(),
                                   pairs_.data(),
                                   coefficients,
                                   plain_.data(),
                                   fits.clusters,
                                   columns,
                                   noise_cost,
                                   best_.data(),
                                   costs_.data()};
        const batch_size size{one.groups, one.tiles, one.most_features};
        if (single_) {
            launch<float>(gathered, evaluated, fits, size, on);
        } else {
            launch<double>(gathered, evaluated, fits, size, on);
        }
    }
    joined_.record(other_);
    joined_.make_wait(main_);
    watch_.stop(main_);
    best_.download(best_here_.span());
    costs_.download(costs_here_.span());
    main_.wait();
    take_results(found);
}

}  // namespace spikeweave::masked_gmm
