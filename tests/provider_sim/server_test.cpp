// The program itself, over real sockets.

#include "tests/provider_sim/file_descriptor.hpp"
#include "tests/support/paths.hpp"

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::sim::server_test {

/// `provider-sim` as a child process, on a port of its own.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    std::array<int, 2> output{};
    if (pipe(output.data()) != 0) return;
    FileDescriptor read_end(output[0]);
    FileDescriptor write_end(output[1]);
    arguments.insert(arguments.begin(), support::program_path("provider-sim"));
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    child_ = fork();
    if (child_ == 0) {
      dup2(write_end.get(), STDOUT_FILENO);
      execv(argv[0], argv.data());
      _exit(127);
    }
    write_end.reset();
    std::string line;
    char c = 0;
    while (::read(read_end.get(), &c, 1) == 1 && c != '\n') line += c;
    const auto colon = line.rfind(':');
    if (line.starts_with("listening on http://127.0.0.1:")) port_ = std::stoi(line.substr(colon + 1));
  }
  ~Program() { stop(SIGKILL); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int port() const { return port_; }
  /// The exit code, or 128 + signal.
  int stop(int signal) {
    if (child_ <= 0) return -1;
    kill(child_, signal);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t child_ = -1;
  int port_ = 0;
};

class Client {
 public:
  explicit Client(int port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{10, 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }

  void send_all(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  /// Reads until the text has come so many times; what came.
  std::string read_until(std::string_view text, int times = 1) {
    std::string got;
    while (count(got, text) < times && read_more(got)) {
    }
    return got;
  }
  std::string read_to_end() {
    std::string got;
    while (read_more(got)) {
    }
    return got;
  }

 private:
  static int count(std::string_view got, std::string_view text) {
    int found = 0;
    for (auto at = got.find(text); at != std::string_view::npos; at = got.find(text, at + text.size()))
      ++found;
    return found;
  }
  bool read_more(std::string& got) {
    std::array<char, 65536> buffer;
    const auto size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) return false;
    got.append(buffer.data(), static_cast<std::size_t>(size));
    return true;
  }

  FileDescriptor socket_;
  bool connected_ = false;
};

const std::string body =
    R"json({"model":"m","messages":[{"role":"user","content":"get(u, verify=False)"}]})json";
constexpr std::string_view answer_end = R"("system_fingerprint":"fp_provider_sim"})";

std::string request(const std::string& content = body, const std::string& headers = "") {
  return "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + headers +
         "Content-Length: " + std::to_string(content.size()) + "\r\n\r\n" + content;
}

TEST(Server, AnswersPipelinedRequestsInOrderAndEndsCleanly) {
  Program program({"--port", "0"});
  ASSERT_GT(program.port(), 0);
  Client client(program.port());
  ASSERT_TRUE(client.connected());
  client.send_all(request() + request() + "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n");
  const auto got = client.read_to_end();
  EXPECT_EQ(got.find("HTTP/1.1 200 OK"), 0u);
  EXPECT_GT(got.rfind("{\"status\":\"ok\"}"), got.rfind(answer_end));
  EXPECT_EQ(program.stop(SIGTERM), 0);
}

TEST(Server, TakesAHugeBodyAfter100Continue) {
  Program program({});
  Client client(program.port());
  const std::string huge =
      R"({"model":"m","messages":[{"role":"user","content":")" + std::string(20u << 20, 'x') + R"("}]})";
  const auto whole = request(huge, "Expect: 100-continue\r\n");
  const auto head = whole.find("\r\n\r\n") + 4;
  client.send_all(std::string_view(whole).substr(0, head));
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send_all(std::string_view(whole).substr(head));
  EXPECT_NE(client.read_until(answer_end).find(R"("prompt_tokens":5242880)"), std::string::npos);
}

TEST(Server, RefusesABodyThatIsTooLargeWithAnAnswer) {
  Program program({});
  Client client(program.port());
  client.send_all("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 99999999\r\n\r\nxxxxxxxx");
  EXPECT_EQ(client.read_until("}}").substr(0, 12), "HTTP/1.1 413");
}

TEST(Server, SendsABigAnswerWhole) {
  Program program({"--big-body", "9000000"});
  Client client(program.port());
  client.send_all(request());
  EXPECT_GE(client.read_until(answer_end).size(), 9000000u);
}

TEST(Server, ClosesAfterItsNumberOfRequests) {
  Program program({"--keep-alive-max", "2"});
  Client client(program.port());
  client.send_all(request() + request() + request());
  const auto got = client.read_to_end();
  EXPECT_NE(got.find("connection: close"), std::string::npos);
  EXPECT_EQ(got.find("HTTP/1.1", got.find("connection: close")), std::string::npos);
}

TEST(Server, DropsAndCutsOnDemand) {
  Program dropping({"--drop-rate", "1"});
  Client dropped(dropping.port());
  dropped.send_all(request());
  EXPECT_EQ(dropped.read_to_end(), "");
  Program cutting({"--truncate-body-rate", "1"});
  Client cut(cutting.port());
  cut.send_all(request());
  const auto got = cut.read_to_end();
  EXPECT_EQ(got.find("HTTP/1.1 200 OK"), 0u);
  EXPECT_EQ(got.find(answer_end), std::string::npos);
}

TEST(Server, LogsStartsAndAnswersAndWaitsItsLatency) {
  namespace fs = std::filesystem;
  const auto path = fs::temp_directory_path() / ("provider_sim_" + std::to_string(getpid()) + ".jsonl");
  Program program({"--latency-ms", "20", "--log", path.string()});
  Client client(program.port());
  client.send_all(request());
  client.read_until(answer_end);
  ASSERT_EQ(program.stop(SIGINT), 0);
  std::vector<nlohmann::json> events;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) events.push_back(nlohmann::json::parse(line));
  fs::remove(path);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["event"], "start");
  EXPECT_EQ(events[1]["event"], "answer");
  EXPECT_EQ(events[1]["status"], 200);
  EXPECT_EQ(events[0]["content"], events[1]["content"]);
  EXPECT_EQ(events[1]["provider"], "openai");
  EXPECT_GE(events[1]["t_us"].get<std::int64_t>() - events[0]["t_us"].get<std::int64_t>(), 20'000);
}

TEST(Server, RefusesConnectionsDuringAnOutageAndComesBack) {
  Program program({"--outage", "0,0.3,refuse"});
  Client first(program.port());
  first.send_all(request());
  EXPECT_EQ(first.read_to_end(), "") << "closed without an answer";
  bool refused = false;
  bool back = false;
  for (int tries = 0; tries < 5000 && !back; ++tries) {
    Client client(program.port());
    if (!client.connected()) {
      refused = true;
      usleep(2000);
      continue;
    }
    client.send_all(request());
    back = client.read_until(answer_end).find(answer_end) != std::string::npos;
  }
  EXPECT_TRUE(refused);
  EXPECT_TRUE(back);
  EXPECT_EQ(program.stop(SIGTERM), 0);
}

TEST(Server, NoticesThatAClientLeft) {
  Program program({"--hang-rate", "1"});
  {
    Client client(program.port());
    client.send_all(request());
    Client watcher(program.port());
    std::string stats;
    while (stats.find("\"in_flight\":1") == std::string::npos) {
      watcher.send_all("GET /stats HTTP/1.1\r\n\r\n");
      stats = watcher.read_until("}}");
      ASSERT_FALSE(stats.empty());
    }
  }
  Client watcher(program.port());
  std::string stats;
  while (stats.find("\"gone\":1") == std::string::npos) {
    watcher.send_all("GET /stats HTTP/1.1\r\n\r\n");
    stats = watcher.read_until("}}");
    ASSERT_FALSE(stats.empty());
  }
  EXPECT_NE(stats.find("\"in_flight\":0"), std::string::npos);
}

TEST(Server, RefusesFlagsThatMakeNoSense) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--error-rate", "0.1"},
                                                {"--drop-rate", "0.6", "--hang-rate", "0.6"},
                                                {"--burst", "5"},
                                                {"--outage", "3,2,503"},
                                                {"--outage", "1,2,gone"},
                                                {"--delay-form", "weeks"},
                                                {"--script", "/nonexistent"}}) {
    Program program(flags);
    EXPECT_EQ(program.port(), 0);
    EXPECT_EQ(program.stop(0), 2) << flags[0];
  }
}

}  // namespace sluice::sim::server_test
