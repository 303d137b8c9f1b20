#include "common/manual/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace sluice {
namespace {

/// Text as roff shows it literally: a hyphen is one that can be searched for and copied.
std::string escaped(std::string_view text) {
  std::string out;
  bool at_line_start = true;
  for (const char one : text) {
    if (at_line_start && (one == '.' || one == '\'')) out += "\\&";
    switch (one) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += one;
    }
    at_line_start = one == '\n';
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char one) { return static_cast<char>(std::toupper(one)); });
  return out;
}

/// A text in quotes, as an argument of a macro.
std::string roff_argument(std::string_view text) {
  std::string out = "\"";
  for (const char one : escaped(text)) out += one == '"' ? std::string("\\(dq") : std::string(1, one);
  return out + "\"";
}

void add_flag(std::string& page, const FlagText& flag) {
  page += ".TP\n";
  std::string names;
  for (const std::string& name : flag.names) {
    if (!names.empty()) names += ", ";
    names += "\\fB" + escaped(name) + "\\fR";
  }
  if (!flag.value.empty()) names += " \\fI" + escaped(flag.value) + "\\fR";
  if (flag.is_repeatable) names += " ...";
  page += names + "\n" + escaped(flag.meaning) + "\n";
}

void add_commands(std::string& page, const CommandText& command) {
  if (command.commands.empty()) return;
  page += ".SH COMMANDS\n";
  for (const CommandText& below : command.commands) {
    page += ".TP\n\\fB" + escaped(below.last_word()) + "\\fR\n" + escaped(below.summary) + "; see \\fB" +
            escaped(page_name(below)) + "\\fR(1)\n";
  }
}

void add_see_also(std::string& page, const CommandText& command, const std::string& parent) {
  std::vector<std::string> pages;
  if (!parent.empty()) pages.push_back(parent);
  for (const CommandText& below : command.commands) pages.push_back(page_name(below));
  if (pages.empty()) return;
  page += ".SH SEE ALSO\n";
  for (const std::string& one : pages)
    page += ".BR " + escaped(one) + " (1)" + (&one == &pages.back() ? "" : ",") + "\n";
}

}  // namespace

std::string page_name(const CommandText& command) {
  std::string name = command.name;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CommandText& command, const std::string& version, const std::string& parent) {
  const std::string name = page_name(command);
  std::string page =
      ".TH " + roff_argument(upper(name)) + " 1 \"\" " + roff_argument(version) + " \"User Commands\"\n";
  page += ".SH NAME\n" + escaped(name) + " \\- " + escaped(command.summary) + "\n";
  page += ".SH SYNOPSIS\n.B " + escaped(command.name) + "\n" + escaped(command.usage) + "\n";
  if (!command.arguments.empty()) {
    page += ".SH ARGUMENTS\n";
    for (const FlagText& argument : command.arguments) add_flag(page, argument);
  }
  for (const FlagGroup& group : command.groups) {
    page += ".SH " + roff_argument(upper(group.heading)) + "\n";
    for (const FlagText& flag : group.flags) add_flag(page, flag);
  }
  add_commands(page, command);
  if (!command.notes.empty()) page += ".SH NOTES\n.nf\n" + escaped(command.notes) + "\n.fi\n";
  add_see_also(page, command, parent);
  return page;
}

}  // namespace sluice
