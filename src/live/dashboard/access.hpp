#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spikeweave::live {

/// Who may see a dashboard: whoever has its token, and then the cookie that the token gives.
class dashboard_access {
public:
    /// Both secrets are 128 random bits. @throws io_error if the system has none.
    dashboard_access();

    const std::string& token() const { return token_; }
    /// Whether a path is `/?token=` and the token.
    bool has_token(std::string_view target) const;
    /// Whether one of the cookies of a request is that of this server.
    bool has_cookie(std::string_view cookies, std::uint16_t port) const;
    /// The header that sets it. Browsers share cookies among ports, so its name has the port.
    std::string cookie_header(std::uint16_t port) const;

private:
    std::string token_;
    std::string cookie_;
};

}  // namespace spikeweave::live
