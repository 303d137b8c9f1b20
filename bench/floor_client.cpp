// The least that a client of an HTTP API can do: curl_multi with kept-alive connections, no actors, no cache,
// no scoring. What it reaches is the floor that sluice's own figures stand beside (docs/benchmarks.md).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <curl/curl.h>
#include <sys/resource.h>

namespace {

struct Options {
  std::string url;
  std::uint64_t requests = 1000;
  std::size_t in_flight = 50;
  std::string body_file;
  std::string vary;
  std::vector<std::string> headers;
};

/// One reused handle with the buffers of the request that is under way on it.
struct Transfer {
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> easy{curl_easy_init(), curl_easy_cleanup};
  std::string body;
  std::string answer;
};

struct Outcome {
  std::uint64_t done = 0;
  std::uint64_t ok = 0;
};

std::size_t keep_answer(char* data, std::size_t size, std::size_t count, void* target) {
  static_cast<std::string*>(target)->append(data, size * count);
  return size * count;
}

/// Sends the same template again and again, or with a running number where `vary` stands.
class FloorClient {
 public:
  FloorClient(const Options& options, std::string body) : options_(options), template_(std::move(body)) {
    headers_ = curl_slist_append(headers_, "content-type: application/json");
    headers_ = curl_slist_append(headers_, "expect:");  // no round trip before a large body
    for (const auto& header : options.headers) headers_ = curl_slist_append(headers_, header.c_str());
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(options.in_flight));
    transfers_.resize(std::min<std::uint64_t>(options.in_flight, options.requests));
    for (auto& transfer : transfers_) prepare(transfer);
  }
  ~FloorClient() {
    transfers_.clear();
    curl_multi_cleanup(multi_);
    curl_slist_free_all(headers_);
  }
  FloorClient(const FloorClient&) = delete;
  FloorClient& operator=(const FloorClient&) = delete;

  Outcome run() {
    Outcome outcome;
    for (auto& transfer : transfers_) start(transfer);
    while (outcome.done < options_.requests) {
      int running = 0;
      curl_multi_perform(multi_, &running);
      if (collect(outcome) == 0) curl_multi_poll(multi_, nullptr, 0, 1000, nullptr);
    }
    return outcome;
  }

 private:
  void prepare(Transfer& transfer) {
    CURL* easy = transfer.easy.get();
    curl_easy_setopt(easy, CURLOPT_URL, options_.url.c_str());
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers_);
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep_answer);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &transfer.answer);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &transfer);
  }

  void start(Transfer& transfer) {
    const std::string number = std::to_string(started_++);
    transfer.answer.clear();
    transfer.body = template_;
    if (!options_.vary.empty()) {
      for (auto at = transfer.body.find(options_.vary); at != std::string::npos;
           at = transfer.body.find(options_.vary, at + number.size())) {
        transfer.body.replace(at, options_.vary.size(), number);
      }
    }
    CURL* easy = transfer.easy.get();
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, transfer.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(transfer.body.size()));
    curl_multi_add_handle(multi_, easy);
  }

  /// Takes what is done and starts the next requests on the same handles; how many were done.
  std::size_t collect(Outcome& outcome) {
    std::size_t collected = 0;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode code = message->data.result;
      Transfer* transfer = nullptr;
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      curl_multi_remove_handle(multi_, easy);
      ++collected;
      ++outcome.done;
      if (code == CURLE_OK && status == 200 && !transfer->answer.empty()) ++outcome.ok;
      if (started_ < options_.requests) start(*transfer);
    }
    return collected;
  }

  const Options& options_;
  const std::string template_;
  CURLM* multi_ = curl_multi_init();
  curl_slist* headers_ = nullptr;
  std::vector<Transfer> transfers_;
  std::uint64_t started_ = 0;
};

double cpu_seconds(const rusage& usage) {
  auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + time.tv_usec * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void measure(FloorClient& client, std::uint64_t requests) {
  rusage before{};
  rusage after{};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = client.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  getrusage(RUSAGE_SELF, &after);
  const auto count = static_cast<double>(requests);
  std::printf(
      "{\"requests\":%llu,\"ok\":%llu,\"seconds\":%.6f,\"rate\":%.1f,\"cpu_us_per_request\":%.2f,"
      "\"max_rss_kb\":%ld}\n",
      static_cast<unsigned long long>(outcome.done), static_cast<unsigned long long>(outcome.ok), seconds,
      count / seconds, (cpu_seconds(after) - cpu_seconds(before)) * 1e6 / count, after.ru_maxrss);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"POSTs one body many times with curl_multi and prints what that took as one JSON line.",
               "floor-client"};
  app.add_option("--url", options.url, "Where to POST")->type_name("URL")->required();
  app.add_option("--requests", options.requests, "How many")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  app.add_option("--in-flight", options.in_flight, "How many at a time")
      ->type_name("N")
      ->check(CLI::Range(1, 100000).description(""));
  app.add_option("--body", options.body_file, "File with the body")
      ->type_name("FILE")
      ->required()
      ->check(CLI::ExistingFile.description(""));
  app.add_option("--vary", options.vary, "Text in the body to replace by the request's number")
      ->type_name("WORD");
  app.add_option("--header", options.headers, "Further header; may be repeated")
      ->type_name("HEADER")
      ->allow_extra_args(false);
  app.footer(
      "Example:\n  floor-client --url http://127.0.0.1:8080/v1/chat/completions --requests 5000 --in-flight "
      "50 "
      "--body request.json --vary @N@");
  CLI11_PARSE(app, argc, argv);
  std::ifstream file(options.body_file, std::ios::binary);
  std::ostringstream body;
  body << file.rdbuf();
  if (!file.is_open()) {
    std::cerr << "floor-client: " << options.body_file << " cannot be read\n";
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  {
    FloorClient client(options, body.str());
    measure(client, options.requests);
  }
  curl_global_cleanup();
  return 0;
}
