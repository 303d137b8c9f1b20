#include "coordinator/cli/view/view_request.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr const char* own = "127.0.0.1:8080";
const ViewAccess access{own, "c0ffee"};
const std::string folder = "/c0ffee/";

/// Of a page in the folder.
tl::expected<ViewRequest, ServedAnswer> read(const std::string& page, const std::string& query = "",
                                             const std::string& method = "GET",
                                             const std::string& host = own) {
  return read_view_request({method, folder + page, query, host, ""}, access);
}

TEST(ViewRequest, ThereAreFourPages) {
  using Page = ViewRequest::Page;
  const auto list = read("", "limit=7");
  ASSERT_TRUE(list);
  EXPECT_EQ(list->page, Page::runs);
  EXPECT_EQ(list->limit, 7u);
  EXPECT_EQ(read("")->limit, 100u);
  const auto run = read("run", "id=1b4e28ba-2fa1-11d2-883f-0016d3cca427");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->page, Page::run);
  EXPECT_EQ(run->run, "1b4e28ba-2fa1-11d2-883f-0016d3cca427");
  const auto progress = read("progress", "id=last%7E1");
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->page, Page::progress);
  EXPECT_EQ(progress->run, "last~1");
  const auto both = read("compare", "base=last%7E1&current=1b4e&other=x");
  ASSERT_TRUE(both);
  EXPECT_EQ(both->page, Page::compare);
  EXPECT_EQ(both->base, "last~1");
  EXPECT_EQ(both->current, "1b4e");
}

TEST(ViewRequest, ThereIsNothingElse) {
  for (const char* page : {"favicon.ico", "runs", "run/", "run/last", "../../etc/passwd", "../c0ffee/", "/",
                           "%2e%2e", "run\\b", "' OR 1", "compare/", "etc/passwd"}) {
    const auto refused = read(page, "id=last");
    ASSERT_FALSE(refused) << page;
    EXPECT_EQ(refused.error().status, 404) << page;
    EXPECT_EQ(refused.error().type, "text/plain; charset=utf-8");
    for (const char* words : {"passwd", "OR 1", "favicon"})
      EXPECT_EQ(refused.error().body.find(words), std::string::npos) << "it repeats nothing";
  }
  for (const char* query : {"limit=0", "limit=x", "limit=", "limit=1e9", "limit=99999999999999999999"})
    EXPECT_EQ(read("", query).error().status, 400) << query;
  for (const char* query : {"base=../x", "current=%00", "base=<b>", "base="})
    EXPECT_EQ(read("compare", query).error().status, 400) << query;
  for (const char* query : {"", "id=", "id=../x", "id=a/b", "id=%00", "id=' OR 1", "base=last",
                            "id=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}) {
    for (const char* page : {"run", "progress"}) EXPECT_EQ(read(page, query).error().status, 400) << query;
  }
}

TEST(ViewRequest, OnlyLooking) {
  EXPECT_TRUE(read("", "", "HEAD"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", ""}) {
    const auto refused = read("", "", method);
    ASSERT_FALSE(refused) << method;
    EXPECT_EQ(refused.error().status, 405);
  }
}

TEST(ViewRequest, APageOfTheWebThatLeadsHereIsRefused) {
  for (const char* host : {"evil.example:8080", "", "127.0.0.1:9999", "evil.example"}) {
    const auto refused = read("", "", "GET", host);
    ASSERT_FALSE(refused) << host;
    EXPECT_EQ(refused.error().status, 403);
  }
  EXPECT_TRUE(read("", "", "GET", "localhost:8080"));
}

TEST(ViewRequest, WhatAPageOfAnotherSiteAsksForIsRefused) {
  const auto asked_by = [](const std::string& site) {
    return read_view_request({"GET", folder + "run", "id=last", own, site}, access);
  };
  for (const char* site : {"cross-site", "same-site"}) {
    const auto refused = asked_by(site);
    ASSERT_FALSE(refused) << site;
    EXPECT_EQ(refused.error().status, 403);
  }
  for (const char* site : {"", "none", "same-origin"}) EXPECT_TRUE(asked_by(site)) << site;
}

// It came in a cookie, which browsers send to the servers at all ports of a host.
TEST(ViewRequest, TheTokenIsTheFolderOfAllPages) {
  EXPECT_EQ(access.address(), "http://127.0.0.1:8080/c0ffee/");
  for (const char* path : {"", "/", "/run", "/c0ffee", "//c0ffee/", "/c0ffe/", "/c0ffee0/", "/C0FFEE/",
                           "/run/c0ffee/", "/favicon.ico"}) {
    const auto refused = read_view_request({"GET", path, "token=c0ffee&id=last", own, ""}, access);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().status, 403) << path;
    EXPECT_EQ(refused.error().body.find("c0ffee"), std::string::npos);
  }
}

}  // namespace
}  // namespace sluice
