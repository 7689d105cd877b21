// SPDX-License-Identifier: MIT
// port_keys_test.cpp - keys by port GUID, the text format of key files, and the permissions of their file.
#include "support/catch.hpp"
#include <comad/mad/port_keys.hpp>
#include <comad/transports/detail/key_file.hpp>

#include <filesystem>
#include <fstream>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace comad;
using mad::key_kind;
using mad::port_keys;

namespace {

constexpr iba::guid first{0x0002c90300a1b2c3}, second{0x0002c90300a1b2c4}, unlisted{7};

std::string error_of(std::string_view text) {
    port_keys keys;
    keys.set(key_kind::MKey, first, 5);
    const auto added = keys.add(text);
    CHECK(keys.of(key_kind::MKey, first) == 5); // existing keys stay
    CHECK(keys.of(key_kind::MKey, second) == 0);
    return added ? "nothing is wrong" : added.error().text;
}

/// A file with this mode, in its own directory.
class file {
public:
    file(std::string_view text, mode_t mode) {
        std::string name = std::filesystem::temp_directory_path() / "comad-keys-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        directory_ = name;
        std::ofstream(path()) << text;
        REQUIRE(::chmod(path().c_str(), mode) == 0);
    }
    ~file() { std::filesystem::remove_all(directory_); }
    file(const file&) = delete;
    file& operator=(const file&) = delete;
    std::string path() const { return directory_ / "keys"; }
    std::string folder() const { return directory_; }
    /// Adds another file to the directory.
    void add(std::string_view name, std::string_view text, mode_t mode) const {
        std::ofstream(directory_ / name) << text;
        REQUIRE(::chmod((directory_ / name).c_str(), mode) == 0);
    }

private:
    std::filesystem::path directory_;
};

std::string refusal(const std::string& path) {
    port_keys keys;
    try {
        transports::add_key_file(keys, path);
    } catch (const std::runtime_error& e) {
        const std::string what = e.what();
        REQUIRE(what.find('\n') == std::string::npos);
        const std::string begin = "key file '" + path + "': ";
        REQUIRE(what.starts_with(begin));
        return what.substr(begin.size());
    }
    return "nothing is wrong";
}

} // namespace

TEST_CASE("a port without its own key of a kind uses the default key") {
    port_keys keys;
    REQUIRE(keys.add("# who      what    the key\n"
                     "\n"
                     "0x0002c90300a1b2c3 0x1234\n"
                     "\t0002:c903:00a1:b2c3   CC_Key 0x77 # of the first\r\n"
                     "0002c90300a1b2c4 M_Key 18446744073709551615\n"
                     "default SM_Key 9\n"
                     "default M_Key 0x1"));
    CHECK(keys.of(key_kind::MKey, first) == 0x1234);
    CHECK(keys.of(key_kind::CCKey, first) == 0x77);
    CHECK(keys.of(key_kind::SMKey, first) == 9);
    CHECK(keys.of(key_kind::MKey, second) == ~u64{0});
    CHECK(keys.of(key_kind::CCKey, second) == 0);
    CHECK(keys.of(key_kind::MKey, unlisted) == 1);
    CHECK(keys.default_of(key_kind::MKey) == 1);
    CHECK(keys.differ(key_kind::MKey));
    CHECK(keys.differ(key_kind::CCKey));
    CHECK_FALSE(keys.differ(key_kind::SMKey));
}

TEST_CASE("port_keys reads the guid2mkey file of OpenSM") {
    // The lines are as OpenSM 3.3.23 wrote them on ibsim. The ports of ibsim have no keys, so these keys replace zeros.
    port_keys keys;
    REQUIRE(keys.add("0x0000000000100001 0x1122334455667788\n\n0x0000000000200000 0x1122334455667788\n\n"));
    CHECK(keys.of(key_kind::MKey, iba::guid{0x100001}) == 0x1122334455667788);
    CHECK(keys.of(key_kind::MKey, iba::guid{0x200000}) == 0x1122334455667788);
    CHECK(keys.of(key_kind::MKey, iba::guid{0x100000}) == 0);
}

TEST_CASE("an error in a key file names the line without the key, and no key is added") {
    const std::string good = "0002c90300a1b2c4 1\n";
    CHECK(error_of(good + "0x1\n") == "line 2: expected a port GUID or 'default', optionally M_Key, SM_Key or CC_Key, "
                                      "and the key; the line has 1 word");
    CHECK(error_of(good + "\n1 M_Key 2 3") == "line 3: expected a port GUID or 'default', optionally M_Key, SM_Key or "
                                              "CC_Key, and the key; the line has 4 words");
    CHECK(error_of("mlx5_0 1\n" + good) ==
          "line 1: invalid port GUID 'mlx5_0'; expected a 64-bit number such as 0x0002c90300a1b2c3, or 'default'");
    CHECK(error_of("0x10000000000000000 1") == "line 1: invalid port GUID '0x10000000000000000'; expected a 64-bit "
                                               "number such as 0x0002c90300a1b2c3, or 'default'");
    CHECK(error_of(good + "0x1 MKey 1") == "line 2: unknown kind of key 'MKey'; expected M_Key, SM_Key or CC_Key");
    for (const char* key : {"secret", "0x10000000000000000", "-1", "0x", "1,2"})
        CHECK(error_of(good + "0x1 " + key) == "line 2: the key must be a number of at most 64 bits");
}

TEST_CASE("a path gets the keys that it lacks") {
    port_keys keys;
    keys.set(key_kind::MKey, first, 1);
    keys.set(key_kind::SMKey, first, 2);
    keys.set(key_kind::CCKey, first, 3);
    keys.set_default(key_kind::MKey, 4);
    const auto with_keys = [&](const mad::IBPath& path, iba::guid port) {
        const mad::any_path keyed = keys.put_into(path, port);
        const auto& p = std::get<mad::IBPath>(keyed);
        return std::array<u64, 3>{p.MKey, p.SMKey, p.CCKey};
    };
    CHECK(with_keys({}, first) == std::array<u64, 3>{1, 2, 3});
    CHECK(with_keys({}, second) == std::array<u64, 3>{4, 0, 0});
    mad::IBPath own;
    own.MKey = 10;
    own.CCKey = 30;
    CHECK(with_keys(own, first) == std::array<u64, 3>{10, 2, 30});
    CHECK(mad::headers_of(keys.put_into(mad::IBDRPath{}, first)).MKey == 1);
    CHECK(mad::headers_of(keys.put_into(mad::IBDRPath{})).MKey == 4);
}

TEST_CASE("a key file that other users can access is rejected") {
    port_keys keys;
    keys.set_default(key_kind::MKey, 3);
    transports::add_key_file(keys, file("0x0002c90300a1b2c3 5\n", 0600).path());
    CHECK(keys.of(key_kind::MKey, first) == 5);
    CHECK(keys.default_of(key_kind::MKey) == 3);
    CHECK(refusal(file("", 0400).path()) == "nothing is wrong");

    CHECK(refusal(file("", 0640).path()) == "other users have access to it (mode 0640); run chmod 600 on it");
    CHECK(refusal(file("", 0602).path()) == "other users have access to it (mode 0602); run chmod 600 on it");
    CHECK(refusal(file("0x1\n", 0600).path()).starts_with("line 1: "));
    CHECK(refusal("/nowhere/keys") == "No such file or directory");
    CHECK(refusal("/dev/null") == "it is not a regular file");
    const file another("", 0600);
    CHECK(refusal(another.folder()) ==
          "the directory contains none of OpenSM's files guid2mkey, guid2cckey and neighbors");
    if (::geteuid() == 0) {
        const file of_another("", 0600);
        REQUIRE(::chown(of_another.path().c_str(), 65534, 65534) == 0);
        CHECK(refusal(of_another.path()) == "the file must belong to you or to root");
    }
}

TEST_CASE("a neighbor known from the cache gets its own key with the first query") {
    port_keys keys;
    keys.set_default(key_kind::MKey, 1);
    keys.set(key_kind::MKey, second, 2);
    keys.set(key_kind::MKey, first, 3);
    REQUIRE(keys.add_neighbors("0x0002c90300a1b2c3:17 0x0002c90300a1b2c4:1\n\n"
                               "0x0000000000000007:2 0x0002c90300a1b2c3:18\n"));
    // Lines that OpenSM 3.3.23 wrote on ibsim.
    keys.set(key_kind::MKey, iba::guid{0x0002c90300000c00}, 4);
    REQUIRE(keys.add_neighbors(
        "0x0002c90300000d00:3 0x0002c90300000b00:3\n\n0x0002c90300000801:1 0x0002c90300000c00:2\n\n"));
    CHECK(keys.beyond(key_kind::MKey, iba::guid{0x0002c90300000801}, 1) == 4);
    CHECK(keys.beyond(key_kind::MKey, first, 17) == 2);
    CHECK(keys.beyond(key_kind::MKey, second, 1) == 3); // also in the opposite direction
    CHECK(keys.beyond(key_kind::MKey, first, 18) == 1); // the neighbor is known, and has the default key
    CHECK(keys.beyond(key_kind::MKey, first, 1) == 1);  // nothing is known about that port
    CHECK(keys.beyond(key_kind::CCKey, first, 17) == 0);
    const auto wrong = [&](std::string_view text) {
        const auto added = keys.add_neighbors(text);
        REQUIRE_FALSE(added);
        CHECK(keys.beyond(key_kind::MKey, first, 1) == 1); // no line was accepted
        return added.error().text;
    };
    CHECK(wrong("0x0002c90300a1b2c3:1 0x0002c90300a1b2c4:1\n0x1:1\n") ==
          "line 2: expected two ports as GUID:PORT; the line has 1 word");
    CHECK(wrong("0x1 0x2:1") == "line 1: invalid port '0x1'; expected GUID:PORT, such as 0x0002c90300a1b2c3:1");
    CHECK(wrong("0x1:1 0x2:256") == "line 1: invalid port '0x2:256'; expected GUID:PORT, such as 0x0002c90300a1b2c3:1");
    CHECK(wrong("0x1:1 x:2") == "line 1: invalid port 'x:2'; expected GUID:PORT, such as 0x0002c90300a1b2c3:1");
}

TEST_CASE("the cache directory of OpenSM is read by file names") {
    const file cache("", 0600);
    cache.add("guid2mkey", "0x0002c90300a1b2c4 0x2\n", 0600);
    cache.add("guid2lid", "0x0002c90300a1b2c4 0x0001 0x0001\n", 0644); // not a file that comad reads
    port_keys keys;
    transports::add_key_file(keys, cache.folder());
    CHECK(keys.of(key_kind::MKey, second) == 2);
    cache.add("guid2cckey", "0x0002c90300a1b2c4 0x3\n", 0600);
    cache.add("neighbors", "0x0002c90300a1b2c3:17 0x0002c90300a1b2c4:1\n", 0644);
    transports::add_key_file(keys, cache.folder() + "/");
    CHECK(keys.of(key_kind::CCKey, second) == 3);
    CHECK(keys.beyond(key_kind::MKey, first, 17) == 2);
    port_keys by_name;
    transports::add_key_file(by_name, cache.folder() + "/guid2cckey");
    CHECK(by_name.of(key_kind::CCKey, second) == 3);
    CHECK(by_name.of(key_kind::MKey, second) == 0);
    const auto refuse = [&](const char* name, mode_t mode) {
        cache.add(name, "", mode);
        port_keys ignored;
        try {
            transports::add_key_file(ignored, cache.folder());
        } catch (const std::runtime_error& e) {
            cache.add(name, "", 0600);
            return std::string(e.what());
        }
        return std::string();
    };
    CHECK(refuse("guid2cckey", 0644)
              .ends_with("guid2cckey': other users have access to it (mode 0644); run chmod 600 on it"));
    CHECK(refuse("neighbors", 0666).ends_with("neighbors': other users can write it (mode 0666); run chmod 644 on it"));
    CHECK(refuse("neighbors", 0644).empty());
}
