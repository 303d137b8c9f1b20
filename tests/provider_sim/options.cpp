#include "common/manual/help_formatter.hpp"
#include "tests/provider_sim/settings.hpp"

#include <charconv>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice::sim {

namespace {

constexpr const char* examples = R"(Examples:
  provider-sim --port 8080
      answers at http://127.0.0.1:8080/v1/chat/completions, /v1/messages and
      /v1beta/models/MODEL:generateContent
  provider-sim --port-file port.txt --log events.jsonl
    --latency-lognormal 800,0.5
      picks a port, and answers about as slowly as a real model
  provider-sim --rps 100 --burst 10 --limit-headers
      a key with 100 requests a second, and 429 with Retry-After beyond
  provider-sim --fail-first 100,429,1
      a burst of 100 answers 429 with "retry-after: 1"
  provider-sim --drop-rate 0.05 --error-rate 0.05,500 --error-rate 0.02,529
      a bad day
  provider-sim --storm 0.2 --max-faults 3
      everything that another call heals, at random, and no more than three
      times a message
  provider-sim --outage 2,5,503 --outage 8,9,refuse
      down from second 2 to 5 after the first request, and not even reachable
      in second 8
  provider-sim --latency-ms 200 --places 8
      a server that works on eight requests at a time and lets the others wait
      in line
  provider-sim --fault-mode per-content --refusal-rate 0.1
      a tenth of the messages is refused, the same ones every time
  provider-sim --judge-noise 0.1 --judge-length-bias 0.3
               --judge-family-bias gpt,0.1
      judges with every tenth vote turned over, in favour of long answers and of
      those by gpt

Script file: one JSON object a line, e.g.
  {"contains": "fixture 7", "status": 500, "times": 2}
  {"contains": "fixture 8", "text": "{\"claims\":[]}", "latency_ms": 100}
  {"contains": "question 9", "vote": false,
   "text": "[quality 0.8] [by gpt] In Paris."}
  {"contains": "question 9", "vote": true,
   "text": {"rationale": "Wrong.", "score": 0}, "times": 1}
(each rule on one line.)
Members: contains, vote, text, status, headers, body, latency_ms, retry_after,
times, refusal, finish, and fault (hang, drop, truncate, malformed, refusal,
length). The first rule that fits and has uses left is taken; rules with only a
latency leave the answer to the built-in rules, and faults to the flags. A vote
often shows the question that its answer was given to: "vote" keeps a rule to
votes (true) or to other requests (false).

Votes: a request whose response schema has the properties "score" and
"rationale" is answered with a vote, {"rationale": "...", "score": 0.8}. An
answer in it begins at its marker [quality S], S from 0 to 1, which is its
honest score, and ends before [end], a line that begins with "</" or "-----" or
the next marker, or with the message. Two markers (the last two, of more) are a
pair: its score is 0.5 + (first - second) / 2. Without a marker the whole
message is one answer, and its score a hash of it. A schema with "quality_score"
and "notes" asks for a comparison of a pair, 0.5 + (second - first) / 2; answers
without markers are equally good. Noise comes before the biases, and each
answer's score stays from 0 to 1. The n-th vote on a message is the same in
every run with one --seed, however requests interleave; what a limit or a fault
keeps back is given to the next request.

Errors of limits, keys, form, outages and --fail-first come at once; all other
answers after the latency. A HEAD request is answered 404 and counts as nothing.)";

using Parts = std::vector<double>;

/// A bias: from -1 to 1. Nothing if the text is none.
std::optional<double> read_bias(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= -1 && number <= 1)) return std::nullopt;
  return number;
}

/// Numbers between commas; empty if the text is something else.
Parts split_numbers(const std::string& text) {
  Parts parts;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return {};
    parts.push_back(number);
    if (next == end) return parts;
    if (*next != ',') return {};
    at = next + 1;
  }
}

// Their help is in the options' own words.
CLI::Validator above_zero() {
  return CLI::PositiveNumber.description("");
}
CLI::Validator not_negative() {
  return CLI::NonNegativeNumber.description("");
}
CLI::Validator from_zero_to_one() {
  return CLI::Range(0.0, 1.0).description("");
}

bool is_status(double number) {
  return number >= 400 && number <= 599 && number == static_cast<int>(number);
}

void add_required(CLI::App& app, const std::string& flag,
                  std::vector<std::pair<std::string, std::string>>& to, const std::string& help) {
  app.add_option_function<std::vector<std::string>>(
         flag,
         [&to](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto equals = text.find('=');
             if (equals == std::string::npos) throw CLI::ValidationError("expected NAME=VALUE");
             to.emplace_back(text.substr(0, equals), text.substr(equals + 1));
           }
         },
         help + "; may be repeated")
      ->type_name("NAME=VALUE");
}

void add_latency(CLI::App& app, SimSettings& sim) {
  auto* fixed = app.add_option("--latency-ms", sim.latency.median_ms, "Fixed latency of answers")
                    ->type_name("MS")
                    ->check(not_negative());
  app.add_option_function<std::string>(
         "--latency-lognormal",
         [&sim](const std::string& text) {
           const auto parts = split_numbers(text);
           if (parts.size() != 2) throw CLI::ValidationError("expected MEDIAN_MS,SIGMA, e.g. 800,0.5");
           sim.latency.median_ms = parts[0];
           sim.latency.sigma = parts[1];
         },
         "Log-normal latency")
      ->type_name("MEDIAN_MS,SIGMA")
      ->excludes(fixed);
}

void add_limits(CLI::App& app, SimSettings& sim) {
  auto& limits = sim.limits;
  auto* rps = app.add_option("--rps", limits.requests_per_second, "Requests a second; strict token bucket")
                  ->type_name("N")
                  ->check(above_zero());
  app.add_option("--burst", limits.burst, "Capacity of that bucket (default: one second, at least 1)")
      ->type_name("N")
      ->check(CLI::Range(1.0, 1e9).description(""))
      ->needs(rps);
  auto* tpm = app.add_option("--tpm", limits.tokens_per_minute, "Tokens a minute, prompt and answer")
                  ->type_name("N")
                  ->check(above_zero());
  auto* burst = app.add_option("--token-burst", limits.token_burst,
                               "Capacity of that bucket in tokens (default: one minute)")
                    ->type_name("N")
                    ->check(above_zero())
                    ->needs(tpm);
  app.add_option("--input-tpm", limits.input_tokens_per_minute, "Tokens of prompts a minute")
      ->type_name("N")
      ->check(above_zero());
  app.add_option("--output-tpm", limits.output_tokens_per_minute, "Tokens of answers a minute")
      ->type_name("N")
      ->check(above_zero());
  app.add_option("--token-burst-seconds", limits.token_burst_seconds,
                 "Capacity of all token buckets in seconds of their rate (default: 60)")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->excludes(burst);
  app.add_flag("--limit-headers", limits.announce, "Announce the limits in the provider's headers");
  auto* retry_after = app.add_option("--retry-after", sim.retry_after_s,
                                     "Seconds to name with 429 (and injected 503, 529), may be fractional; "
                                     "default: computed from the limit")
                          ->type_name("SECONDS")
                          ->check(not_negative());
  app.add_flag_callback(
         "--no-retry-after", [&sim] { sim.name_retry_after = false; }, "Name no delay")
      ->excludes(retry_after);
  static const std::map<std::string, DelayForm> forms{
      {"usual", DelayForm::usual}, {"ms", DelayForm::milliseconds}, {"date", DelayForm::date}};
  app.add_option("--delay-form", sim.delay_form,
                 "How delays are named: in the provider's usual way, by retry-after-ms alone, or as a date")
      ->type_name("usual|ms|date")
      ->transform(CLI::CheckedTransformer(forms).description(""));
}

/// "2,5,503" or "8,9,refuse".
Outage read_outage(const std::string& text) {
  static const std::map<std::string, Outage::Kind> kinds{
      {"drop", Outage::Kind::drop}, {"hang", Outage::Kind::hang}, {"refuse", Outage::Kind::refuse}};
  const CLI::ValidationError wrong(
      "expected FROM,UNTIL,WHAT in seconds since the first request, WHAT one of a status, "
      "drop, hang, refuse, e.g. 2,5,503");
  const auto comma = text.rfind(',');
  const auto times = split_numbers(text.substr(0, comma));
  if (comma == std::string::npos || times.size() != 2 || times[0] >= times[1]) throw wrong;
  Outage outage;
  outage.from_us = std::llround(times[0] * 1e6);
  outage.until_us = std::llround(times[1] * 1e6);
  const auto what = text.substr(comma + 1);
  if (const auto kind = kinds.find(what); kind != kinds.end()) {
    outage.kind = kind->second;
  } else {
    const auto status = split_numbers(what);
    if (status.size() != 1 || !is_status(status[0])) throw wrong;
    outage.status = static_cast<int>(status[0]);
  }
  return outage;
}

void add_outages(CLI::App& app, SimSettings& sim) {
  app.add_option_function<std::vector<std::string>>(
         "--outage",
         [&sim](const std::vector<std::string>& texts) {
           for (const auto& text : texts) sim.outages.push_back(read_outage(text));
         },
         "Down in these seconds since the first request; WHAT: a status, drop, hang or refuse; may be "
         "repeated")
      ->type_name("FROM,UNTIL,WHAT")
      ->allow_extra_args(false);
  app.add_option("--places", sim.places,
                 "Requests that are worked on at a time, the others wait in line (default 0: all)")
      ->type_name("N");
}

void add_failures(CLI::App& app, SimSettings& sim) {
  app.add_option_function<std::string>(
         "--fail-first",
         [&sim](const std::string& text) {
           const auto parts = split_numbers(text);
           if (parts.size() < 2 || parts.size() > 3 || !is_status(parts[1])) {
             throw CLI::ValidationError("expected N,STATUS[,RETRY_AFTER], e.g. 100,429,1");
           }
           sim.fail_first.count = static_cast<std::uint64_t>(parts[0]);
           sim.fail_first.status = static_cast<int>(parts[1]);
           if (parts.size() == 3) sim.fail_first.retry_after_s = parts[2];
         },
         "The first N requests fail with this status, and name this delay")
      ->type_name("N,STATUS[,SECONDS]");
  app.add_option_function<std::vector<std::string>>(
         "--error-rate",
         [&sim](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             const auto parts = split_numbers(text);
             if (parts.size() != 2 || parts[0] > 1 || !is_status(parts[1])) {
               throw CLI::ValidationError("expected PROBABILITY,STATUS, e.g. 0.1,500");
             }
             sim.faults.errors.emplace_back(parts[0], static_cast<int>(parts[1]));
           }
         },
         "Probability and status of an error; may be repeated")
      ->type_name("SHARE,STATUS")
      ->allow_extra_args(false);
}

void add_faults(CLI::App& app, SimSettings& sim) {
  auto& faults = sim.faults;
  auto rate = [&app](const char* name, double& value, const char* help) {
    app.add_option(name, value, help)->type_name("SHARE")->check(from_zero_to_one());
  };
  add_failures(app, sim);
  rate("--drop-rate", faults.drop, "Probability of a connection closed without an answer");
  rate("--truncate-body-rate", faults.truncate_body, "... of a body shorter than its Content-Length");
  rate("--malformed-rate", faults.malformed, "... of a body that is not JSON");
  rate("--refusal-rate", faults.refusal, "... of a refusal");
  rate("--length-rate", faults.length, "... of an answer cut off at the token limit");
  rate("--hang-rate", faults.hang, "... of no answer ever");
  using Mode = FaultSettings::Mode;
  static const std::map<std::string, Mode> modes{{"random", Mode::random},
                                                 {"per-content", Mode::per_content}};
  app.add_option("--fault-mode", faults.mode, "random: by request; per-content: what fails once fails always")
      ->type_name("random|per-content")
      ->transform(CLI::CheckedTransformer(modes).description(""));
  app.add_option("--seed", faults.seed, "Seed of faults, latencies and votes (default 1)")->type_name("N");
  app.add_option_function<double>(
         "--storm", [&faults](double probability) { add_storm(faults, probability); },
         "Probability of any fault that another call heals: 429, 529, 500, 503, hang, drop, a cut or "
         "malformed body")
      ->type_name("SHARE")
      ->check(from_zero_to_one());
  app.add_option("--max-faults", faults.max_per_content,
                 "Faults that one message gets at most (default 0: no bound)")
      ->type_name("N");
  app.add_option("--big-body", sim.big_body, "Pad answers to at least so many bytes")
      ->type_name("BYTES")
      ->check(CLI::Range(0, 1 << 30).description(""));
  app.add_option("--require-key", sim.required_key, "Answer 401 without this API key")->type_name("KEY");
  app.add_flag("--no-batch-embeddings", sim.no_batch_embeddings,
               "Answer Gemini's batchEmbedContents with 404: its models know embedContent alone");
  add_required(app, "--require-header", sim.required_headers, "Answer 401 without this header");
  add_required(app, "--require-query", sim.required_query, "Answer 400 without this field of the query");
}

void add_judge(CLI::App& app, JudgeSettings& judge) {
  auto probability = [&app](const char* name, double& value, const char* help) {
    app.add_option(name, value, help)->type_name("SHARE")->check(from_zero_to_one());
  };
  auto bias = [&app](const char* name, double& value, const char* help) {
    app.add_option(name, value, help)->type_name("BIAS")->check(CLI::Range(-1.0, 1.0).description(""));
  };
  probability("--judge-noise", judge.noise,
              "Probability that a vote is turned over: the score s becomes 1 - s");
  bias("--judge-position-bias", judge.position_bias, "Added to the first answer of a pair; -1 to 1");
  bias("--judge-length-bias", judge.length_bias,
       "Added to answers of 1000 bytes and more, to shorter ones in proportion; -1 to 1");
  app.add_option_function<std::vector<std::string>>(
         "--judge-family-bias",
         [&judge](const std::vector<std::string>& texts) {
           for (const auto& text : texts) {
             const auto comma = text.rfind(',');
             const auto added = read_bias(std::string_view(text).substr(comma + 1));
             if (comma == std::string::npos || comma == 0 || !added) {
               throw CLI::ValidationError("expected NAME,BIAS with a bias from -1 to 1, e.g. gpt,0.1");
             }
             judge.family_biases.emplace_back(text.substr(0, comma), *added);
           }
         },
         "Added to answers that say [by NAME] behind their marker; may be repeated")
      ->type_name("NAME,BIAS")
      ->allow_extra_args(false);
  probability("--judge-unreadable", judge.unreadable, "Probability of a text that is no vote");
  probability("--judge-refuses", judge.refusal, "Probability that a vote is refused");
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  Options options;
  std::string script_file;
  CLI::App app{"Simulates OpenAI-compatible, Anthropic and Gemini servers on loopback.", "provider-sim"};
  app.formatter(std::make_shared<sluice::HelpFormatter>());
  app.set_help_flag("--help,-h", "Show this help");
  app.footer(examples);
  app.add_option("--port", options.port, "Port on 127.0.0.1 (default 0: any; printed on stdout)")
      ->type_name("PORT");
  app.add_option("--port-file", options.port_file, "Write the port to this file once it listens")
      ->type_name("FILE");
  app.add_option("--log", options.log_file, "Log starts and answers to this file, one JSON object a line")
      ->type_name("FILE");
  app.add_option("--requests", options.requests_file,
                 "Write each request to this file, one JSON object a line: target, headers, body")
      ->type_name("FILE");
  app.add_option("--script", script_file, "Answers for certain messages, see below")->type_name("FILE");
  app.add_option("--keep-alive-max", options.keep_alive_max, "Close a connection after so many requests")
      ->type_name("N");
  add_latency(app, options.sim);
  add_limits(app, options.sim);
  add_outages(app, options.sim);
  add_faults(app, options.sim);
  add_judge(app, options.sim.judge);
  try {
    app.parse(argc, argv);
    if (options.sim.faults.total() > 1.0 + 1e-9) {
      throw CLI::ValidationError("the probabilities of all faults add up to more than 1");
    }
    if (options.sim.judge.unreadable + options.sim.judge.refusal > 1.0 + 1e-9) {
      throw CLI::ValidationError("--judge-unreadable and --judge-refuses add up to more than 1");
    }
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : 2};
  }
  options.sim.latency.seed = options.sim.judge.seed = options.sim.faults.seed;
  if (!script_file.empty()) {
    auto script = load_script(script_file);
    if (!script) {
      std::cerr << "provider-sim: " << script.error().message << '\n';
      return {std::nullopt, 2};
    }
    options.sim.script = std::move(*script);
  }
  return {std::move(options), 0};
}

}  // namespace sluice::sim
