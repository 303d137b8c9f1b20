// Key files and the list of workers: what is taken, what is refused, and that no message holds a secret.
#include "common/fleet/fleet_key.hpp"

#include "common/fleet/allow_list.hpp"
#include "common/fleet/fleet_security.hpp"
#include "common/fleet/private_file.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

const std::string public_key = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";
const std::string secret_key = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6";
const std::string other_key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID";

void write(const fs::path& path, const std::string& text, fs::perms permissions) {
  std::ofstream(path) << text;
  fs::permissions(path, permissions);
}

constexpr auto owner_only = fs::perms::owner_read | fs::perms::owner_write;

TEST(FleetKeys, AKeyFileSaysWhatItWasWrittenWith) {
  const FleetKey key{"gpu-7", public_key, secret_key, {other_key}};
  EXPECT_EQ(parse_fleet_key(to_toml(key), "gpu-7.key").value(), key);
  const FleetKey coordinator{"coordinator", public_key, secret_key, {}};
  EXPECT_EQ(parse_fleet_key(to_toml(coordinator), "coordinator.key").value(), coordinator);
}

TEST(FleetKeys, NoMessageOfABrokenFileHoldsTheSecret) {
  for (const std::string& text :
       {"name = \"a b\"\npublic_key = \"" + public_key + "\"\nsecret_key = \"" + secret_key + "\"\n",
        "name = \"a\"\nsecret_key = \"" + secret_key + "x\"\n", "secret_key = " + secret_key + "\n",
        "name = \"a\"\npublic_key = \"" + public_key + "\"\nsecret_key = \"" + secret_key +
            "\"\ncoordinator_keys = [\"" + secret_key + "y\"]\n",
        "secrets = \"" + secret_key + "\"\n"}) {
    const auto key = parse_fleet_key(text, "worker.key");
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().message.find(secret_key.substr(0, 12)), std::string::npos) << key.error().message;
    EXPECT_NE(key.error().message.find("worker.key"), std::string::npos) << key.error().message;
  }
}

TEST(FleetKeys, OneThatOthersCanReadIsRefused) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "gpu.key";
  write(path, to_toml({"gpu", public_key, secret_key, {}}), owner_only);
  EXPECT_TRUE(read_fleet_key(path)) << read_fleet_key(path).error().message;
  for (const auto more : {fs::perms::others_read, fs::perms::others_write, fs::perms::group_write}) {
    fs::permissions(path, owner_only | more);
    const auto key = read_fleet_key(path);
    ASSERT_FALSE(key) << static_cast<unsigned>(more);
    EXPECT_NE(key.error().message.find("chmod 600 " + path.string()), std::string::npos)
        << key.error().message;
  }
  EXPECT_NE(read_fleet_key(folder.path() / "none.key").error().message.find("none.key"), std::string::npos);
}

// Of a home that cannot be written to: "cannot be locked: No such file or directory".
TEST(FleetKeys, AFolderThatCannotBeMadeIsToldSo) {
  const support::TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "no folder";
  const auto locked = lock_folder(folder.path() / "file" / "fleet");
  ASSERT_FALSE(locked);
  EXPECT_NE(locked.error().message.find("fleet cannot be made: "), std::string::npos)
      << locked.error().message;
}

TEST(FleetKeys, AWorkerIsCalledByItsKey) {
  EXPECT_EQ(fleet_worker_name("pool", "pool"), "pool");
  EXPECT_EQ(fleet_worker_name("pool", ""), "pool");
  EXPECT_EQ(fleet_worker_name("pool", "host-3"), "pool/host-3");
  EXPECT_EQ(fleet_worker_name("pool", "pool/host-3"), "pool/host-3") << "a second HELLO";
  EXPECT_EQ(fleet_worker_name("pool", "other/host-3"), "pool/other/host-3");
}

TEST(AllowList, NamesTheLinesThatAreWrong) {
  const auto list = AllowList::parse(
      "# workers\n\ngpu-7 " + public_key + "\nno key here\n-x " + other_key + "\ngpu-8 " + public_key + "\n",
      "allowed");
  ASSERT_FALSE(list);
  for (const char* line : {"allowed:4:", "allowed:5:", "allowed:6:"})
    EXPECT_NE(list.error().message.find(line), std::string::npos) << list.error().message;
}

TEST(AllowList, AKeyIsFoundByItselfAlone) {
  const auto list = AllowList::parse("gpu-7\t" + public_key + "  \r\ngpu-7 " + other_key, "allowed").value();
  EXPECT_EQ(list.name_of(public_key), "gpu-7");
  EXPECT_EQ(list.name_of(other_key), "gpu-7") << "a second key while the first is being replaced";
  EXPECT_EQ(list.name_of(public_key.substr(0, 39)), std::nullopt);
  EXPECT_EQ(list.name_of(""), std::nullopt);
}

TEST(AllowList, AFileThatBreaksLeavesTheListInForce) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "allowed";
  write(path, "gpu-7 " + public_key + "\n", owner_only);
  auto watched = WatchedAllowList::open(path);
  ASSERT_TRUE(watched) << watched.error().message;
  EXPECT_FALSE(watched->refresh().value()) << "nothing has changed";
  write(path, "gpu-7 " + public_key + "\ngpu-8 " + other_key + "\n", owner_only);
  EXPECT_TRUE(watched->refresh().value());
  EXPECT_EQ(watched->list().name_of(other_key), "gpu-8");
  write(path, "gpu-7 half a k", owner_only);
  EXPECT_FALSE(watched->refresh());
  EXPECT_EQ(watched->list().name_of(other_key), "gpu-8");
  EXPECT_FALSE(watched->refresh().value()) << "an error is said once";
  write(path, "gpu-8 " + other_key + "\n", owner_only);
  EXPECT_TRUE(watched->refresh().value());
  EXPECT_EQ(watched->list().name_of(public_key), std::nullopt);
}

// Its state was taken over before the read that failed, and a worker that was removed stayed admitted.
TEST(AllowList, OneWhosePermissionsAreMendedIsReadAgain) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "allowed";
  write(path, "gpu-7 " + public_key + "\n", owner_only);
  auto watched = WatchedAllowList::open(path);
  ASSERT_TRUE(watched) << watched.error().message;
  write(path, "gpu-8 " + other_key + "\n", owner_only | fs::perms::group_write);
  EXPECT_FALSE(watched->refresh());
  EXPECT_FALSE(watched->refresh().value()) << "an error is said once";
  EXPECT_EQ(watched->list().name_of(public_key), "gpu-7");
  fs::permissions(path, owner_only);
  EXPECT_TRUE(watched->refresh().value());
  EXPECT_EQ(watched->list().name_of(public_key), std::nullopt);
}

// Whoever could open `fleet` could lock it, and `sluice keys` waited without end.
TEST(PrivateFile, ANewHomeAndItsFolderOfKeysAreTheirOwnersAlone) {
  const support::TemporaryFolder folder;
  const fs::path locked = folder.path() / "one" / "fleet";
  const auto lock = [&] { EXPECT_TRUE(lock_folder(locked)); };
  EXPECT_EQ(support::left_to_others(locked, lock), fs::perms::none);
  const fs::path key = folder.path() / "other" / "fleet" / "gpu-7.key";
  const auto create = [&] { EXPECT_TRUE(create_private_file(key, "")); };
  EXPECT_EQ(support::left_to_others(key, create), fs::perms::none);
  for (const fs::path& made : {locked.parent_path(), key.parent_path(), key.parent_path().parent_path()})
    EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all) << made;
}

TEST(AllowList, OneThatOthersCanWriteIsRefused) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "allowed";
  write(path, "gpu-7 " + public_key + "\n", owner_only | fs::perms::others_read);
  EXPECT_TRUE(AllowList::read(path)) << "its keys are public";
  fs::permissions(path, owner_only | fs::perms::group_write);
  EXPECT_FALSE(AllowList::read(path));
}

}  // namespace
}  // namespace sluice
