#pragma once

#include <string>

#include "live/dashboard/dashboard_frames.hpp"
#include "live/dashboard/dashboard_server.hpp"
#include "live/dashboard/session_news.hpp"
#include "live/metrics/session_monitor.hpp"
#include "live/sinks/all_results.hpp"

namespace spikeweave::live {

/// Shows what a session does to a browser, as long as it lives.
class dashboard {
public:
    /// @param analysis  that of the session
    /// @param monitor   and the results have to live longer
    /// @param at        the address of this computer
    /// @throws io_error if there is no port for it.
    dashboard(const session_options& analysis, const session_monitor& monitor, all_results& to,
              const std::string& at);

    /// The address to open in a browser, a secret.
    std::string address() const { return server_.address(); }

private:
    session_watcher* watcher_;
    dashboard_frames frames_;  // used by the thread of the server
    dashboard_server server_;  // the last member: it ends before what it shows
};

}  // namespace spikeweave::live
