#include "tests/provider_sim/script.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

namespace sluice::sim {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Fault>, 7> fault_names{{{"none", Fault::none},
                                                                         {"hang", Fault::hang},
                                                                         {"drop", Fault::drop},
                                                                         {"truncate", Fault::truncate_body},
                                                                         {"malformed", Fault::malformed},
                                                                         {"refusal", Fault::refusal},
                                                                         {"length", Fault::length}}};

/// Reads one member into the rule; a word on what was expected if it cannot be.
std::string read_texts(ScriptRule& rule, const std::string& key, const Json& value) {
  if (key == "text" && value.is_object()) {
    rule.text = value.dump();
    return {};
  }
  if (key == "headers") {
    if (!value.is_object()) return "an object of strings";
    for (const auto& [name, header] : value.items()) {
      if (!header.is_string()) return "an object of strings";
      rule.headers.emplace_back(name, header.get<std::string>());
    }
    return {};
  }
  if (!value.is_string()) return "a string";
  const auto text = value.get<std::string>();
  if (key == "contains") rule.contains = text;
  if (key == "text") rule.text = text;
  if (key == "body") rule.body = text;
  if (key == "finish") rule.finish = text;
  if (key != "fault") return {};
  for (const auto& [name, fault] : fault_names) {
    if (name == text) {
      rule.fault = fault;
      return {};
    }
  }
  return "one of hang, drop, truncate, malformed, refusal, length";
}

std::string read_numbers(ScriptRule& rule, const std::string& key, const Json& value) {
  if (!value.is_number() || value.get<double>() < 0) return "a number that is not negative";
  if (key == "retry_after") rule.retry_after = value.get<double>();
  if (key == "latency_ms") rule.latency_ms = value.get<std::int64_t>();
  if (key == "times") rule.times = value.get<std::uint64_t>();
  if (key != "status") return {};
  rule.status = value.get<int>();
  return *rule.status < 200 || *rule.status > 599 ? "a status from 200 to 599" : "";
}

std::string read_member(ScriptRule& rule, const std::string& key, const Json& value) {
  if (key == "refusal" || key == "vote") {
    if (!value.is_boolean()) return "true or false";
    if (key == "vote") {
      rule.vote = value.get<bool>();
    } else if (value.get<bool>()) {
      rule.fault = Fault::refusal;
    }
    return {};
  }
  for (const auto* name : {"contains", "text", "headers", "body", "finish", "fault"}) {
    if (key == name) return read_texts(rule, key, value);
  }
  for (const auto* name : {"status", "latency_ms", "retry_after", "times"}) {
    if (key == name) return read_numbers(rule, key, value);
  }
  return "one of contains, vote, text, status, headers, body, latency_ms, retry_after, times, refusal, "
         "finish, fault";
}

Result<ScriptRule> read_rule(const Json& json, const std::string& where) {
  if (!json.is_object()) return fail(Reason::usage_invalid, where + ": a rule must be a JSON object");
  ScriptRule rule;
  for (const auto& [key, value] : json.items()) {
    const auto expected = read_member(rule, key, value);
    if (!expected.empty()) return fail(Reason::usage_invalid, where + ": " + key + ": expected " + expected);
  }
  if (rule.status && *rule.status != 200 && *rule.status < 400 && !rule.body) {
    return fail(Reason::usage_invalid, where + ": status " + std::to_string(*rule.status) + " needs a body");
  }
  return rule;
}

Result<std::vector<ScriptRule>> read_array(const Json& array, std::string_view origin) {
  std::vector<ScriptRule> rules;
  for (const auto& json : array) {
    auto rule = read_rule(json, std::string(origin) + ", rule " + std::to_string(rules.size() + 1));
    if (!rule) return fail(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

}  // namespace

std::string_view to_string(Fault fault) {
  if (fault == Fault::error) return "error";
  for (const auto& [name, value] : fault_names) {
    if (value == fault) return name;
  }
  return "";
}

Result<std::vector<ScriptRule>> parse_script(std::string_view content, std::string_view origin) {
  const Json whole = Json::parse(content, nullptr, false);
  if (whole.is_array()) return read_array(whole, origin);
  std::vector<ScriptRule> rules;
  std::size_t line_number = 0;
  while (!content.empty()) {
    ++line_number;
    const auto end = std::min(content.find('\n'), content.size());
    const auto line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto where = std::string(origin) + ":" + std::to_string(line_number);
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) {
      return fail(Reason::usage_invalid, where + ": not JSON; write one rule a line, or one array of rules");
    }
    auto rule = read_rule(json, where);
    if (!rule) return fail(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

Result<std::vector<ScriptRule>> load_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Reason::file_unreadable, path + ": the script cannot be read");
  std::ostringstream content;
  content << file.rdbuf();
  return parse_script(content.str(), path);
}

}  // namespace sluice::sim
