#include "coordinator/cli/view_request.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr const char* own = "127.0.0.1:8080";

tl::expected<ViewRequest, ServedAnswer> read(const std::string& path, const std::string& query = "",
                                             const std::string& method = "GET",
                                             const std::string& host = own) {
  return read_view_request({method, path, query, host}, own);
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
    return read_view_request({"GET", "/runs/last", "", own, site}, own);
  };
  for (const char* site : {"cross-site", "same-site"}) {
    const auto refused = asked_by(site);
    ASSERT_FALSE(refused) << site;
    EXPECT_EQ(refused.error().status, 403);
  }
  for (const char* site : {"", "none", "same-origin"}) EXPECT_TRUE(asked_by(site)) << site;
}

}  // namespace
}  // namespace sluice
