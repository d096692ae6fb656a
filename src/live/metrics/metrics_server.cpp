#include "live/metrics/session_monitor.hpp"

#include <thread>

#include "live/network/http_server.hpp"

namespace spikeweave::live {
namespace {

using text_maker = std::function<std::string()>;

class metrics_connection : public http_connection {
public:
    metrics_connection(boost::asio::ip::tcp::socket&& socket, http_place& place,
                       const text_maker& text)
        : http_connection(std::move(socket), place), text_(&text) {}

private:
    bool respond() override {
        if (target().substr(0, target().find('?')) != "/metrics")
            refuse(status::not_found, "there is only /metrics\n");
        else
            answer_with("text/plain; version=0.0.4; charset=utf-8", (*text_)());
        return false;
    }

    const text_maker* text_;
};

}  // namespace

class metrics_server::state {
public:
    explicit state(std::uint16_t port)
        : place_{.port = port}, listener_(context_, place_, "metrics") {}
    ~state() { context_.stop(); }
    state(const state&) = delete;
    state& operator=(const state&) = delete;

    void serve(text_maker text) {
        text_ = std::move(text);
        listener_.accept([this](boost::asio::ip::tcp::socket&& socket) {
            return std::make_shared<metrics_connection>(std::move(socket), place_, text_);
        });
        thread_ = std::jthread([this] { context_.run(); });
    }

private:
    http_place place_;
    text_maker text_{};
    boost::asio::io_context context_{1};
    http_listener listener_;
    std::jthread thread_{};  // the last member: it ends before what it uses
};

metrics_server::metrics_server(std::uint16_t port) : state_(std::make_unique<state>(port)) {}

metrics_server::~metrics_server() = default;

void metrics_server::serve(std::function<std::string()> text) {
    state_->serve(std::move(text));
}

}  // namespace spikeweave::live
