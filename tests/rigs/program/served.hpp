// SPDX-License-Identifier: MIT
// served.hpp - something that an io_context serves in a thread of its own while a test is its client.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace comad::test {

template <class Server> class served {
public:
    /// `make(executor)` gives a std::unique_ptr<Server>; what it throws comes out here.
    template <class Make> explicit served(Make&& make) : server_(make(io_.get_executor())) {
        address_ = server_->address();
        thread_ = std::thread([this] { io_.run(); });
    }
    ~served() {
        in_its_thread([this](Server&) { server_.reset(); });
        io_.stop();
        thread_.join();
    }
    /// Calls `f(server)` there and gives what it gives.
    template <class F> auto in_its_thread(F&& f) {
        std::packaged_task<decltype(f(*server_))()> task([&] { return f(*server_); });
        auto done = task.get_future();
        boost::asio::post(io_, [&task] { task(); });
        return done.get();
    }
    const std::string& address() const noexcept { return address_; }
    int port() const { return std::stoi(address_.substr(address_.rfind(':') + 1)); }

private:
    boost::asio::io_context io_{1};
    std::unique_ptr<Server> server_;
    std::string address_;
    std::thread thread_;
};

} // namespace comad::test
