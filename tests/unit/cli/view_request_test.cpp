#include "coordinator/cli/view/view_request.hpp"

#include <initializer_list>
#include <utility>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr const char* own = "127.0.0.1:8080";
const ViewAccess access{own, "c0ffee"};
constexpr const char* cookie = "sluice_view_8080=c0ffee";

tl::expected<ViewRequest, ServedAnswer> read(const std::string& path, const std::string& query = "",
                                             const std::string& method = "GET",
                                             const std::string& host = own) {
  return read_view_request({method, path, query, host, "", cookie}, access);
}

TEST(ViewRequest, ThereAreFourPages) {
  using Page = ViewRequest::Page;
  const auto list = read("/", "limit=7");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->page, Page::runs);
  EXPECT_EQ(list->limit, 7u);
  EXPECT_EQ(read("/")->limit, 100u);
  const auto run = read("/runs/1b4e28ba-2fa1-11d2-883f-0016d3cca427");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->page, Page::run);
  EXPECT_EQ(run->run, "1b4e28ba-2fa1-11d2-883f-0016d3cca427");
  const auto progress = read("/runs/last~1/progress");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->page, Page::progress);
  EXPECT_EQ(progress->run, "last~1");
  const auto both = read("/compare", "base=last%7E1&current=1b4e&other=x");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->page, Page::compare);
  EXPECT_EQ(both->base, "last~1");
  EXPECT_EQ(both->current, "1b4e");
}

TEST(ViewRequest, ThereIsNothingElse) {
  for (const char* path : {"", "/favicon.ico", "/runs", "/runs/", "/runs//progress", "/runs/../../etc/passwd",
                           "/runs/a/b", "/runs/%2e%2e", "/runs/a\\b", "/runs/' OR 1", "/compare/",
                           "/etc/passwd", "/runs/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    const auto refused = read(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().status, 404) << path;
    EXPECT_EQ(refused.error().type, "text/plain; charset=utf-8");
    for (const char* words : {"passwd", "OR 1", "favicon"})
      EXPECT_EQ(refused.error().body.find(words), std::string::npos) << "it repeats nothing";
  }
  for (const char* query : {"limit=0", "limit=x", "limit=", "limit=1e9", "limit=99999999999999999999"})
    EXPECT_EQ(read("/", query).error().status, 400) << query;
  for (const char* query : {"base=../x", "current=%00", "base=<b>", "base="})
    EXPECT_EQ(read("/compare", query).error().status, 400) << query;
}

TEST(ViewRequest, OnlyLooking) {
  EXPECT_TRUE(read("/", "", "HEAD"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", ""}) {
    const auto refused = read("/", "", method);
    ASSERT_FALSE(refused) << method;
    EXPECT_EQ(refused.error().status, 405);
  }
}

TEST(ViewRequest, APageOfTheWebThatLeadsHereIsRefused) {
  for (const char* host : {"evil.example:8080", "", "127.0.0.1:9999", "evil.example"}) {
    const auto refused = read("/", "", "GET", host);
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().status, 403);
  }
  EXPECT_TRUE(read("/", "", "GET", "localhost:8080"));
}

TEST(ViewRequest, WhatAPageOfAnotherSiteAsksForIsRefused) {
  const auto asked_by = [](const std::string& site) {
    return read_view_request({"GET", "/runs/last", "", own, site, cookie}, access);
  };
  for (const char* site : {"cross-site", "same-site"}) {
    const auto refused = asked_by(site);
    ASSERT_FALSE(refused) << site;
    EXPECT_EQ(refused.error().status, 403);
  }
  for (const char* site : {"", "none", "same-origin"}) EXPECT_TRUE(asked_by(site)) << site;
}

TEST(ViewRequest, TheTokenComesInTheAddressOrInACookie) {
  const auto with = [](const std::string& query, const std::string& cookies) {
    return read_view_request({"GET", "/", query, own, "", cookies}, access);
  };
  EXPECT_EQ(access.address(), "http://127.0.0.1:8080/?token=c0ffee");
  EXPECT_TRUE(access.set_cookie().starts_with(std::string(cookie) + "; "));
  EXPECT_TRUE(with("token=c0ffee", "")->brings_token);
  EXPECT_TRUE(with("limit=7&token=c0ffee", "")->brings_token);
  for (const char* cookies : {"sluice_view_8080=c0ffee", "a=b; sluice_view_8080=c0ffee; c=d"}) {
    const auto read = with("", cookies);
    ASSERT_TRUE(read) << cookies;
    EXPECT_FALSE(read->brings_token);
  }
  for (const auto& [query, cookies] :
       std::initializer_list<std::pair<const char*, const char*>>{{"", ""},
                                                                  {"token=", ""},
                                                                  {"token=c0ffe", ""},
                                                                  {"token=c0ffee0", ""},
                                                                  {"tokens=c0ffee", ""},
                                                                  {"", "sluice_view_8080="},
                                                                  {"", "sluice_view_9999=c0ffee"},
                                                                  {"", "xsluice_view_8080=c0ffee"},
                                                                  {"", "c0ffee; token=c0ffee"}}) {
    const auto refused = with(query, cookies);
    ASSERT_FALSE(refused) << query << ' ' << cookies;
    EXPECT_EQ(refused.error().status, 403);
    EXPECT_EQ(refused.error().body.find("c0ffee"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice
