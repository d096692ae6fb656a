#include "sort/templates/filter_bank.hpp"

namespace spikeweave::templates {
namespace {

class filter_bank_on_cpu final : public filter_bank {
public:
    filter_bank_on_cpu(std::span<const matched_filter> filters, std::size_t before)
        : filters_(filters), before_(before) {}

    score_table scores_of(const integer_block& block) const override {
        return templates::scores_of(filters_, block, before_);
    }

private:
    std::span<const matched_filter> filters_;
    std::size_t before_;
};

}  // namespace

std::unique_ptr<const filter_bank> filter_bank_of(std::span<const matched_filter> filters,
                                                  std::size_t before, const execution& run) {
    if (run.devices.empty()) return std::make_unique<const filter_bank_on_cpu>(filters, before);
    return filter_bank_on_devices(filters, before, run);
}

}  // namespace spikeweave::templates
