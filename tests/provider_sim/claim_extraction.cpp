#include "tests/provider_sim/claim_rules.hpp"
#include "tests/provider_sim/json_text.hpp"
#include "tests/provider_sim/trigger_scanner.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace sluice::sim {

namespace {

constexpr std::size_t no_word = SIZE_MAX;

/// The rules with their words numbered for the scanner.
class RuleBook {
 public:
  RuleBook() : rules_(claim_rules()) {
    for (const auto& rule : rules_) {
      numbered_.push_back({number(rule.trigger), number(rule.with), number(rule.without)});
    }
    scanner_.emplace_back(words_);
  }

  struct Words {
    std::size_t trigger;
    std::size_t with;
    std::size_t without;
  };

  std::span<const ClaimRule> rules() const { return rules_; }
  const Words& words(std::size_t rule) const { return numbered_[rule]; }
  std::size_t word_count() const { return words_.size(); }
  const TriggerScanner& scanner() const { return scanner_.front(); }

 private:
  std::size_t number(std::string_view word) {
    if (word.empty()) return no_word;
    const auto found = std::find(words_.begin(), words_.end(), word);
    if (found != words_.end()) return static_cast<std::size_t>(found - words_.begin());
    words_.push_back(word);
    return words_.size() - 1;
  }

  std::span<const ClaimRule> rules_;
  std::vector<std::string_view> words_;
  std::vector<Words> numbered_;
  std::vector<TriggerScanner> scanner_;  // made once the words are known
};

const RuleBook& rule_book() {
  static const RuleBook book;
  return book;
}

bool is_placeholder(std::string_view text) {
  constexpr std::array<std::string_view, 7> signs{"example",     "changeme", "your", "xxxx",
                                                  "placeholder", "<",        "{"};
  std::string folded(text);
  std::transform(folded.begin(), folded.end(), folded.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::any_of(signs.begin(), signs.end(),
                     [&](std::string_view sign) { return folded.find(sign) != std::string::npos; });
}

bool guard_holds(Guard guard, std::string_view behind) {
  switch (guard) {
    case Guard::none:
      return true;
    case Guard::literal: {
      if (behind.empty() || (behind[0] != '"' && behind[0] != '\'')) return false;
      const auto end = behind.find(behind[0], 1);
      if (end == std::string_view::npos || end < 7) return false;
      const auto text = behind.substr(1, end - 1);
      return text.find_first_of(" \n") == std::string_view::npos && !is_placeholder(text);
    }
    case Guard::credentials: {
      const auto url = behind.substr(0, behind.find_first_of("\"'` \n"));
      const auto at = url.find('@');
      const auto colon = url.find(':');
      return at != std::string_view::npos && colon < at && at - colon > 1 &&
             !is_placeholder(url.substr(0, at));
    }
  }
  return false;
}

/// True if the line that holds the position starts like a comment in a usual language.
bool in_comment_line(std::string_view message, std::size_t at) {
  const auto before = message.substr(0, at);
  const auto newline = before.rfind('\n');
  auto line = message.substr(newline == std::string_view::npos ? 0 : newline + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.starts_with("//") || line.starts_with("# ") || line.starts_with("* ") || line.starts_with("/*");
}

std::size_t first_line_offset(std::string_view message) {
  constexpr std::string_view marker = "----- FILE -----";
  auto start = message.find(marker);
  if (start == std::string_view::npos) start = message.find("```");
  if (start == std::string_view::npos) return 0;
  const auto end = message.find('\n', start);
  return end == std::string_view::npos ? message.size() : end + 1;
}

/// Where a rule's trigger stood.
struct Finding {
  std::size_t rule;
  std::size_t at;
};

std::vector<Finding> find_all(std::string_view message) {
  const RuleBook& book = rule_book();
  const auto hits = book.scanner().scan(message);
  if (hits.empty()) return {};
  std::vector<bool> present(book.word_count(), false);
  for (const auto& hit : hits) present[hit.trigger] = true;
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < book.rules().size(); ++i) {
    const auto& words = book.words(i);
    if (!present[words.trigger] || (words.with != no_word && !present[words.with]) ||
        (words.without != no_word && present[words.without])) {
      continue;
    }
    for (const auto& hit : hits) {
      if (hit.trigger != words.trigger || !guard_holds(book.rules()[i].guard, message.substr(hit.end)))
        continue;
      const std::size_t at = hit.end - book.rules()[i].trigger.size();
      if (in_comment_line(message, at)) continue;
      findings.push_back({i, at});
      break;
    }
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return findings;
}

bool same_fact(const ClaimRule& a, const ClaimRule& b) {
  return a.subject == b.subject && a.predicate == b.predicate && a.value == b.value;
}

void append_claim(std::string& out, const ClaimRule& rule, std::int64_t line) {
  out += R"({"subject":")";
  out += rule.subject;
  out += R"(","predicate":")";
  out += rule.predicate;
  out += R"(","value":)";
  out += rule.value;
  std::array<char, 32> confidence;
  const int size =
      std::snprintf(confidence.data(), confidence.size(), R"(,"confidence":%.2f)", rule.confidence);
  out.append(confidence.data(), static_cast<std::size_t>(size));
  out += R"(,"line":)";
  append_number(out, line);
  out += '}';
}

}  // namespace

std::string extract_claims(std::string_view user_message) {
  const auto findings = find_all(user_message);
  const auto rules = rule_book().rules();
  const std::size_t first = first_line_offset(user_message);
  std::string out = R"({"claims":[)";
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const ClaimRule& rule = rules[findings[i].rule];
    const bool repeated = std::any_of(findings.begin(), findings.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const Finding& f) { return same_fact(rules[f.rule], rule); });
    if (repeated) continue;
    const std::size_t at = std::max(findings[i].at, first);
    const auto line = 1 + std::count(user_message.begin() + static_cast<std::ptrdiff_t>(first),
                                     user_message.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    if (out.back() == '}') out += ',';
    append_claim(out, rule, line);
  }
  out += "]}";
  return out;
}

}  // namespace sluice::sim
