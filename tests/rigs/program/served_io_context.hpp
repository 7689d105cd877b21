// SPDX-License-Identifier: MIT
// served_io_context.hpp - runs a server on an io_context in a separate thread while the test acts as the client.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace comad::test {

/// A server in its own thread. The destructor destroys the server and ends the thread.
template <class Server> class served {
public:
    /// Creates the server with `make(executor)`, which returns a std::unique_ptr<Server>. Rethrows exceptions of `make`.
    template <class Make> explicit served(Make&& make) : server_(make(io_.get_executor())) {
        address_ = server_->address();
        thread_ = std::thread([this] { io_.run(); });
    }
    ~served() {
        in_its_thread([this](Server&) { server_.reset(); });
        io_.stop();
        thread_.join();
    }
    /// Calls `f(server)` in the thread of the server and returns the result.
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
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> always_{io_.get_executor()};
    std::unique_ptr<Server> server_;
    std::string address_;
    std::thread thread_;
};

} // namespace comad::test
