// Which certificates are trusted: SSL_CERT_FILE and SSL_CERT_DIR.

#include "common/files.hpp"
#include "tests/http/http_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

template <auto release>
struct Release {
  template <class T>
  void operator()(T* held) const {
    release(held);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509_free>>;
using Context = std::unique_ptr<SSL_CTX, Release<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Release<SSL_free>>;

/// What a certificate says.
struct Claims {
  const char* address = "IP:127.0.0.1";
  long from = -60;  ///< In seconds from now.
  long to = 3600;
};

/// Signed by itself.
Certificate make_certificate(EVP_PKEY* key, const Claims& claims) {
  Certificate certificate(X509_new());
  X509* made = certificate.get();
  X509_set_version(made, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), claims.from);
  X509_gmtime_adj(X509_getm_notAfter(made), claims.to);
  X509_set_pubkey(made, key);
  const auto* name = reinterpret_cast<const unsigned char*>("sluice test");
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, name, -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(made));
  X509_EXTENSION* address = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, claims.address);
  X509_add_ext(made, address, -1);
  X509_EXTENSION_free(address);
  if (X509_sign(made, key, EVP_sha256()) == 0) throw std::runtime_error("no certificate for the test");
  return certificate;
}

/// OpenSSL by itself refuses them on either side.
void allow_old_versions(SSL_CTX* context) {
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
  SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
}

/// Answers each request over TLS with "hello", until it is destroyed. The first connection stays open behind
/// its answer and `unasked`, if that is given.
class TlsServer {
 public:
  explicit TlsServer(const Claims& claims = Claims(), int newest_version = TLS1_3_VERSION,
                     std::string unasked = "")
      : key_(EVP_EC_gen("P-256")),
        certificate_(make_certificate(key_.get(), claims)),
        unasked_(std::move(unasked)) {
    if (newest_version < TLS1_2_VERSION) allow_old_versions(context_.get());
    SSL_CTX_set_max_proto_version(context_.get(), newest_version);
    // A client that does not trust it leaves in the middle of the handshake, and OpenSSL writes without
    // MSG_NOSIGNAL.
    std::signal(SIGPIPE, SIG_IGN);
    SSL_CTX_use_certificate(context_.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context_.get(), key_.get());
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, generic, &size) != 0) {
      throw std::runtime_error("no listening socket for the test");
    }
    port_ = ntohs(address.sin_port);
    url_ = "https://127.0.0.1:" + std::to_string(port_) + "/v1/x";
    thread_ = std::thread([this] { serve(); });
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  ~TlsServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  const std::string& url() const { return url_; }
  std::uint16_t port() const { return port_; }
  X509* certificate() const { return certificate_.get(); }

 private:
  static void cork(int connection, bool on) {
    const int value = on ? 1 : 0;
    ::setsockopt(connection, IPPROTO_TCP, TCP_CORK, &value, sizeof value);
  }
  static void write(SSL* session, const std::string& text) {
    SSL_write(session, text.data(), static_cast<int>(text.size()));
  }

  void serve() {
    for (;;) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      const Session session(SSL_new(context_.get()));
      SSL_set_fd(session.get(), connection);
      char request[4096];
      // A client that does not trust the certificate leaves in the middle.
      if (SSL_accept(session.get()) == 1 && SSL_read(session.get(), request, sizeof request) > 0) {
        const std::string unasked = std::exchange(unasked_, "");
        const bool stays = !unasked.empty();
        // Both records arrive together.
        cork(connection, true);
        write(session.get(), RawServer::ok("hello", stays ? "" : "Connection: close\r\n"));
        if (stays) write(session.get(), unasked);
        cork(connection, false);
        if (stays) SSL_read(session.get(), request, sizeof request);  // Until the client leaves.
        SSL_shutdown(session.get());
      }
      ::close(connection);
    }
  }

  Key key_;
  Certificate certificate_;
  std::string unasked_;
  Context context_{SSL_CTX_new(TLS_server_method())};
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::string url_;
  std::thread thread_;
};

class CertificatesTest : public HttpActorTest {
 protected:
  CertificatesTest() { forget(); }
  ~CertificatesTest() override { forget(); }

  static void forget() {
    ::unsetenv("SSL_CERT_FILE");
    ::unsetenv("SSL_CERT_DIR");
  }

  fs::path write_certificate(const std::string& name) const { return write_certificate(name, server_); }
  fs::path write_certificate(const std::string& name, const TlsServer& server) const {
    const fs::path path = folder_.path() / name;
    std::FILE* file = std::fopen(path.c_str(), "w");
    PEM_write_X509(file, server.certificate());
    std::fclose(file);
    return path;
  }

  void expect_trusted() {
    const auto done = perform(call_to(server_.url()));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "hello");
  }

  support::TemporaryFolder folder_;
  TlsServer server_;
};

TEST_F(CertificatesTest, OneThatNobodyNamedIsNotTrusted) {
  expect_failure(perform(call_to(server_.url())), Kind::could_not_connect, "no TLS connection to 127.0.0.1");
}

TEST_F(CertificatesTest, OneOfAnotherHostOrAnotherTimeIsRefusedThoughItIsTrusted) {
  for (const Claims& claims :
       {Claims{"IP:127.0.0.2"}, Claims{"IP:127.0.0.1", -7200, -3600}, Claims{"IP:127.0.0.1", 3600, 7200}}) {
    const TlsServer server(claims);
    ::setenv("SSL_CERT_FILE", write_certificate("own.pem", server).c_str(), 1);
    expect_failure(perform(call_to(server.url())), Kind::could_not_connect, "no TLS connection to 127.0.0.1");
  }
}

/// Whether somebody who takes any version is served.
bool serves_anybody(const TlsServer& server) {
  const Context context(SSL_CTX_new(TLS_client_method()));
  allow_old_versions(context.get());
  const FileDescriptor connection(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  if (::connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return false;
  const Session session(SSL_new(context.get()));
  SSL_set_fd(session.get(), connection.number());
  char answer[100];
  return SSL_connect(session.get()) == 1 && SSL_write(session.get(), "GET", 3) == 3 &&
         SSL_read(session.get(), answer, sizeof answer) > 0;
}

TEST_F(CertificatesTest, AnOldVersionOfTlsIsRefused) {
  const TlsServer server(Claims(), TLS1_1_VERSION);
  ASSERT_TRUE(serves_anybody(server));
  ::setenv("SSL_CERT_FILE", write_certificate("own.pem", server).c_str(), 1);
  expect_failure(perform(call_to(server.url())), Kind::could_not_connect, "no TLS connection to 127.0.0.1");
}

TEST_F(CertificatesTest, WhatComesUnaskedOverTlsAnswersNoCall) {
  const TlsServer server(Claims(), TLS1_3_VERSION, RawServer::ok("late"));
  ::setenv("SSL_CERT_FILE", write_certificate("own.pem", server).c_str(), 1);
  for (int i = 0; i < 2; ++i) {
    const auto done = perform(call_to(server.url()));
    ASSERT_FALSE(done.failure) << done.failure->message;
    EXPECT_EQ(done.response.body, "hello");
  }
}

TEST_F(CertificatesTest, TheFileInSslCertFileIsTrusted) {
  ::setenv("SSL_CERT_FILE", write_certificate("own.pem").c_str(), 1);
  expect_trusted();
}

TEST_F(CertificatesTest, TheFolderInSslCertDirIsTrusted) {
  char name[32];
  std::snprintf(name, sizeof name, "%08lx.0", X509_subject_name_hash(server_.certificate()));
  write_certificate(name);
  ::setenv("SSL_CERT_DIR", folder_.path().c_str(), 1);
  expect_trusted();
}

TEST_F(CertificatesTest, EmptyVariablesNameNothing) {
  ::setenv("SSL_CERT_FILE", "", 1);
  ::setenv("SSL_CERT_DIR", "", 1);
  expect_failure(perform(call_to(server_.url())), Kind::could_not_connect, "no TLS connection to 127.0.0.1");
}

TEST_F(CertificatesTest, AFileThatIsNotThereIsNamedWithItsVariable) {
  ::setenv("SSL_CERT_FILE", (folder_.path() / "gone.pem").c_str(), 1);
  expect_failure(perform(call_to(server_.url())), Kind::could_not_connect, "check SSL_CERT_FILE");
}

}  // namespace
}  // namespace sluice
