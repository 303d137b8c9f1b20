#include "worker/http/curl_library.hpp"

#include <gtest/gtest.h>

namespace sluice::curl_library_test {

TEST(CurlLibrary, ALibraryThatIsNotThereIsNamedWithItsPackage) {
  const auto missing = open_curl("libcurl-of-nobody.so.4");
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find("libcurl-of-nobody.so.4"), std::string::npos)
      << missing.error().message;
  EXPECT_NE(missing.error().message.find("apt-get install libcurl4"), std::string::npos)
      << missing.error().message;
}

TEST(CurlLibrary, ALibraryThatIsAnotherIsRefusedByTheFunctionThatItLacks) {
  const auto another = open_curl("libc.so.6");
  ASSERT_FALSE(another.has_value());
  EXPECT_NE(another.error().message.find("libc.so.6 lacks curl_global_init"), std::string::npos)
      << another.error().message;
}

TEST(CurlLibrary, TheOneThatIsInstalledIsLoadedOnce) {
  ASSERT_TRUE(load_curl().has_value()) << load_curl().error().message;
  EXPECT_EQ(&load_curl(), &load_curl());
  EXPECT_STREQ(curl().easy_strerror(CURLE_OK), "No error");
}

}  // namespace sluice::curl_library_test
