#include "coordinator/report/html/html_page.hpp"

#include "common/hash.hpp"
#include "common/text/base64.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/report/html/xml_text.hpp"

namespace sluice {
namespace {

std::string hash_of(std::string_view part) {
  const Digest digest = sha256(part);
  return "'sha256-" + to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) + "'";
}

std::string policy_of(const std::vector<std::string_view>& scripts, bool fetches, bool has_form) {
  std::string policy = "default-src 'none'; style-src " + hash_of(embedded::report_style) + "; script-src";
  for (const std::string_view script : scripts) policy += ' ' + hash_of(script);
  if (scripts.empty()) policy += " 'none'";
  if (fetches) policy += "; connect-src 'self'";
  return policy + "; base-uri 'none'; form-action " + (has_form ? "'self'" : "'none'");
}

}  // namespace

std::string page_head(std::string_view title, const PageFrame& frame, std::vector<std::string_view> scripts) {
  scripts.insert(scripts.end(), frame.more_scripts.begin(), frame.more_scripts.end());
  std::string head =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"" +
      policy_of(scripts, frame.fetches, frame.has_form) +
      "\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>" +
      xml_escaped(title) + "</title>\n<style>" + std::string(embedded::report_style) +
      "</style>\n</head>\n<body>\n";
  if (!frame.navigation.empty()) head += "<nav>" + frame.navigation + "</nav>\n";
  return head + "<main>\n" + frame.above;
}

std::string page_end(const std::vector<std::string_view>& scripts) {
  std::string end;
  for (const std::string_view script : scripts) end += "<script>" + std::string(script) + "</script>\n";
  return end + "</body>\n</html>\n";
}

std::string served_page_policy() {
  return policy_of({embedded::report_script, embedded::view_script}, true, true) + "; frame-ancestors 'none'";
}

std::string json_in_html(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace sluice
