#include "live/dashboard/dashboard.hpp"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "dashboard_text.hpp"

namespace spikeweave::live {
namespace {

// The part of the policy that a page cannot contain itself.
constexpr const char* page_policy = "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

std::string whole_page() {
    std::string page(dashboard_text::page_head);
    for (const std::string_view part : dashboard_text::page_tail) page += part;
    return page;
}

std::vector<armed_units> units_of(const session_options& analysis) {
    std::vector<armed_units> all;
    for (const armed_episode& one : analysis.armed) all.push_back({false, one.what.units});
    for (const auto& pattern : analysis.patterns.patterns) {
        armed_units& one = all.emplace_back(armed_units{.is_pattern = true});
        for (const pattern_spike& spike : pattern) one.units.push_back(spike.unit);
    }
    return all;
}

}  // namespace

dashboard::dashboard(const session_options& analysis, const session_monitor& monitor,
                     all_results& to, const std::string& at)
    : frames_(units_of(analysis)), server_(at) {
    auto watcher = std::make_unique<session_watcher>(analysis.armed.size() +
                                                     analysis.patterns.patterns.size());
    watcher_ = watcher.get();
    to.add(std::move(watcher));
    server_.serve({.page = whole_page(),
                   .page_policy = page_policy,
                   .session = [this] { return frames_.description(); },
                   .opening = [this] { return frames_.opening(); },
                   .frame =
                       [this, &monitor] {
                           return frames_.next(watcher_->take_news(), watcher_->window(),
                                               monitor.state());
                       }});
}

}  // namespace spikeweave::live
