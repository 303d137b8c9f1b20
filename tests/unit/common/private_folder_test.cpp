#include "common/files.hpp"
#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

class PrivateFolder : public ::testing::Test {
 protected:
  fs::path in(const std::string& name) const { return folder_.path() / name; }

 private:
  support::TemporaryFolder folder_;
};

// Every account of the machine could read a home, and lock it.
TEST_F(PrivateFolder, IsItsOwnersAloneHoweverItIsWritten) {
  for (const std::string end : {"", "/", "/.", "/./"}) {
    const fs::path above = in("above" + std::to_string(end.size()));
    const fs::path home = above / "home";
    const auto make = [&] { EXPECT_FALSE(make_private_folder(home.string() + end)); };
    EXPECT_EQ(support::left_to_others(home, make), fs::perms::none) << end;
    EXPECT_NE(fs::status(above).permissions() & fs::perms::others_exec, fs::perms::none)
        << "as the umask says";
  }
}

TEST_F(PrivateFolder, OneThatIsThereKeepsItsPermissions) {
  fs::create_directory(in("shared"));
  fs::permissions(in("shared"), fs::perms::owner_all | fs::perms::group_all);
  EXPECT_FALSE(make_private_folder(in("shared")));
  EXPECT_EQ(fs::status(in("shared")).permissions(), fs::perms::owner_all | fs::perms::group_all);
  EXPECT_FALSE(make_private_folder(""));
  EXPECT_FALSE(make_private_folder("."));
  EXPECT_FALSE(make_private_folder("/"));
}

TEST_F(PrivateFolder, WhatKeepsItFromBeingMadeIsSaid) {
  support::write_text(in("file"), "");
  EXPECT_EQ(make_private_folder(in("file")), std::errc::file_exists);
  EXPECT_TRUE(make_private_folder(in("file") / "home"));
}

}  // namespace
}  // namespace sluice
