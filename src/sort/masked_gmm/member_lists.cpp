#include "sort/masked_gmm/member_lists.hpp"

namespace spikeweave::masked_gmm {

member_lists::member_lists(const partition& now)
    : begin(std::size_t{now.clusters} + 1), spikes(now.labels.size()) {
    for (const std::uint32_t label : now.labels) ++begin[label + 1];
    for (std::size_t k = 1; k < begin.size(); ++k) begin[k] += begin[k - 1];
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t n = 0; n < now.labels.size(); ++n) spikes[next[now.labels[n]]++] = n;
}

void member_lists::add(member_list cluster) {
    spikes.insert(spikes.end(), cluster.begin(), cluster.end());
    begin.push_back(spikes.size());
}

halves::halves(member_list whole, std::span<const std::uint8_t> sides) {
    for (std::size_t a = 0; a < whole.size(); ++a)
        (sides[a] == 0 ? first : second).push_back(whole[a]);
}

double sum(std::span<const double> values) {
    double total = 0;
    for (const double x : values) total += x;
    return total;
}

}  // namespace spikeweave::masked_gmm
