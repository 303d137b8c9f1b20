#include "common/process/service_manager.hpp"

#include <cstddef>
#include <cstring>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace sluice {
namespace {

/// A service manager's end: what it was told, message by message.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0) << name;
  }
  ~NotifySocket() { ::close(socket_); }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;

  std::string next() const {
    char buffer[1024];
    const auto got = ::recv(socket_, buffer, sizeof buffer, 0);
    return got < 0 ? "nothing" : std::string(buffer, static_cast<std::size_t>(got));
  }

 private:
  int socket_;
};

std::string own_name(const std::string& before) {
  return before + "sluice-notify-" + std::to_string(::getpid());
}

TEST(ServiceManager, IsToldOfStartLifeAndEnd) {
  for (const std::string& name : {own_name("@"), own_name("/tmp/")}) {
    const NotifySocket manager(name);
    const auto service = ServiceManager::at(name);
    ASSERT_TRUE(service && *service) << name;
    (*service)->ready("connecting");
    (*service)->alive();
    (*service)->status("working\non a run");
    (*service)->stopping("SIGTERM");
    EXPECT_EQ(manager.next(), "READY=1\nSTATUS=connecting") << name;
    EXPECT_EQ(manager.next(), "WATCHDOG=1");
    EXPECT_EQ(manager.next(), "STATUS=working on a run") << "no line of its own";
    EXPECT_EQ(manager.next(), "STOPPING=1\nSTATUS=SIGTERM");
    if (name[0] == '/') ::unlink(name.c_str());
  }
}

TEST(ServiceManager, ThereIsNoneWithoutASocket) {
  for (const auto& socket : {std::optional<std::string>(), std::optional<std::string>("")}) {
    const auto service = ServiceManager::at(socket);
    ASSERT_TRUE(service);
    EXPECT_EQ(*service, nullptr);
  }
}

TEST(ServiceManager, WhatIsNoAddressIsRefused) {
  for (const std::string& name :
       {std::string("relative/path"), std::string("@"), "/" + std::string(200, 'x')}) {
    const auto service = ServiceManager::at(name);
    ASSERT_FALSE(service) << name;
    EXPECT_EQ(service.error().reason, Reason::settings_invalid);
  }
}

TEST(ServiceManager, OneThatIsGoneHoldsNobodyUp) {
  const auto service = ServiceManager::at(own_name("@gone-"));
  ASSERT_TRUE(service && *service);
  (*service)->ready("connecting");
  (*service)->alive();
}

}  // namespace
}  // namespace sluice
