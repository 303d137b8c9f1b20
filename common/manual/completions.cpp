#include "common/manual/completions.hpp"

#include "common/text/joined.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

namespace sluice {
namespace {

/// In single quotes, as each of the shells reads it. bash and zsh know no escape between them; fish takes the
/// same form, since no text of a help ends in a backslash.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char one : text) out += one == '\'' ? std::string("'\\''") : std::string(1, one);
  return out + "'";
}

/// `_sluice_worker` of sluice-worker.
std::string function_name(const CommandText& program) {
  std::string name = "_" + program.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

using Visit = std::function<void(const CommandText&)>;

void visit_commands(const CommandText& command, const Visit& visit) {
  visit(command);
  for (const CommandText& below : command.commands) visit_commands(below, visit);
}

template <class Do>
void visit_flags(const CommandText& command, const Do& visit) {
  for (const FlagGroup& group : command.groups) {
    for (const FlagText& flag : group.flags) visit(flag);
  }
}

bool takes_paths(const CommandText& command) {
  return std::ranges::any_of(command.arguments, &FlagText::takes_path);
}

/// `'sluice run' | 'sluice cache export'`: the ways from the program to a command.
std::string ways(const CommandText& program) {
  std::vector<std::string> names;
  visit_commands(program, [&](const CommandText& command) {
    if (&command != &program) names.push_back(shell_word(command.name));
  });
  return joined(names, " | ");
}

/// Cases `COMMAND:FLAG)` of what may follow a flag that takes a value.
std::string value_cases(const CommandText& program,
                        const std::function<std::string(const FlagText&)>& offer) {
  std::string cases;
  visit_commands(program, [&](const CommandText& command) {
    visit_flags(command, [&](const FlagText& flag) {
      if (flag.value.empty()) return;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) patterns.push_back(shell_word(command.name + ":" + name));
      cases += "    " + joined(patterns, " | ") + ") " + offer(flag) + "; return ;;\n";
    });
  });
  return cases;
}

std::vector<std::string> flag_names(const CommandText& command) {
  std::vector<std::string> names;
  visit_flags(command,
              [&](const FlagText& flag) { names.insert(names.end(), flag.names.begin(), flag.names.end()); });
  return names;
}

std::vector<std::string> command_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const CommandText& below : command.commands) names.push_back(below.last_word());
  return names;
}

/// A colon ends the word in zsh's lists of words with descriptions.
std::string described(std::string_view word, const std::string& meaning) {
  std::string out;
  for (const char one : word) out += one == ':' ? std::string("\\:") : std::string(1, one);
  return shell_word(out + ":" + meaning);
}

std::string zsh_lists(const CommandText& command) {
  std::string flags;
  visit_flags(command, [&](const FlagText& flag) {
    for (const std::string& name : flag.names) flags += " " + described(name, flag.meaning);
  });
  std::string out = "flags=(" + flags.substr(std::min<std::size_t>(1, flags.size())) + ")";
  if (command.commands.empty()) return out;
  std::string commands;
  for (const CommandText& below : command.commands)
    commands += (commands.empty() ? "" : " ") + described(below.last_word(), below.summary);
  return out + "; commands=(" + commands + ")";
}

}  // namespace

std::string bash_completion(const CommandText& program) {
  const std::string name = function_name(program);
  const std::string offer = "mapfile -t COMPREPLY < <(compgen ";
  std::string out =
      "# Completion of " + program.name + " for bash.\n" + name + "() {\n" +
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} at=" + program.name +
      " i\n"
      "  # `--flag=value` comes as three words.\n"
      "  if [[ $cur == = ]]; then\n    cur=\n"
      "  elif [[ $prev == = ]]; then\n    prev=${COMP_WORDS[COMP_CWORD - 2]}\n  fi\n"
      "  COMPREPLY=()\n";
  if (!program.commands.empty())
    out += "  for ((i = 1; i < COMP_CWORD; ++i)); do\n    case \"$at ${COMP_WORDS[i]}\" in\n      " +
           ways(program) + ") at=\"$at ${COMP_WORDS[i]}\" ;;\n    esac\n  done\n";
  out += "  case \"$at:$prev\" in\n" +
         value_cases(program,
                     [&](const FlagText& flag) -> std::string {
                       if (const auto choices = flag.choices(); !choices.empty())
                         return offer + "-W " + shell_word(joined(choices, " ")) + " -- \"$cur\")";
                       if (flag.takes_path()) return "compopt -o filenames; " + offer + "-f -- \"$cur\")";
                       return ":";
                     }) +
         "  esac\n  case \"$at\" in\n";
  visit_commands(program, [&](const CommandText& command) {
    out += "    " + shell_word(command.name) + ")\n      if [[ $cur == -* ]]; then\n        " + offer +
           "-W " + shell_word(joined(flag_names(command), " ")) + " -- \"$cur\")\n";
    if (!command.commands.empty())
      out += "      else\n        " + offer + "-W " + shell_word(joined(command_names(command), " ")) +
             " -- \"$cur\")\n";
    else if (takes_paths(command))
      out += "      else\n        compopt -o filenames\n        " + offer + "-f -- \"$cur\")\n";
    out += "      fi ;;\n";
  });
  return out + "  esac\n}\ncomplete -F " + name + " " + program.name + "\n";
}

std::string zsh_completion(const CommandText& program) {
  const std::string name = function_name(program);
  std::string out =
      "#compdef " + program.name + "\n# Completion of " + program.name + " for zsh.\n" + name +
      "() {\n  local at=" + program.name +
      " before=${words[CURRENT - 1]} i\n"
      "  local -a flags commands\n"
      "  # `--flag=value` comes as one word.\n"
      "  if [[ $PREFIX == --*=* ]]; then\n    before=${PREFIX%%=*}\n    compset -P '*='\n  fi\n";
  if (!program.commands.empty())
    out += "  for ((i = 2; i < CURRENT; ++i)); do\n    case \"$at ${words[i]}\" in\n      " + ways(program) +
           ") at=\"$at ${words[i]}\" ;;\n    esac\n  done\n";
  out += "  case \"$at:$before\" in\n" +
         value_cases(program,
                     [](const FlagText& flag) {
                       if (const auto choices = flag.choices(); !choices.empty())
                         return "compadd " + joined(choices, " ");
                       if (flag.takes_path()) return std::string("_files");
                       return "_message " + shell_word(flag.value);
                     }) +
         "  esac\n  case \"$at\" in\n";
  visit_commands(program, [&](const CommandText& command) {
    out += "    " + shell_word(command.name) + ") " + zsh_lists(command);
    if (takes_paths(command)) out += "; [[ $PREFIX == -* ]] || _files";
    out += " ;;\n";
  });
  return out +
         "  esac\n"
         "  if [[ $PREFIX == -* ]]; then\n    _describe -o flag flags\n"
         "  elif (( $#commands )); then\n    _describe command commands\n  fi\n"
         "}\n"
         "# Found by its name the file is read at the first key, and must answer that one too.\n"
         "if [[ $funcstack[1] == _" +
         program.name + " ]]; then\n  " + name + " \"$@\"\nelse\n  compdef " + name + " " + program.name +
         "\nfi\n";
}

std::string fish_completion(const CommandText& program) {
  const std::string at = "_" + function_name(program) + "_at";
  std::string out = "# Completion of " + program.name + " for fish.\nfunction " + at + "\n  set -l at " +
                    program.name + "\n";
  if (!program.commands.empty()) {
    out += "  for word in (commandline -opc)[2..]\n    switch \"$at $word\"\n      case";
    visit_commands(program, [&](const CommandText& command) {
      if (&command != &program) out += " " + shell_word(command.name);
    });
    out += "\n        set at \"$at $word\"\n    end\n  end\n";
  }
  out += "  test \"$at\" = \"$argv\"\nend\n";
  visit_commands(program, [&](const CommandText& command) {
    const std::string line = "complete -c " + program.name + " -n " + shell_word(at + " " + command.name);
    if (!takes_paths(command)) out += line + " -f\n";
    for (const CommandText& below : command.commands)
      out += line + " -a " + below.last_word() + " -d " + shell_word(below.summary) + "\n";
    visit_flags(command, [&](const FlagText& flag) {
      out += line;
      for (const std::string& name : flag.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (const auto choices = flag.choices(); !choices.empty())
        out += " -x -a " + shell_word(joined(choices, " "));
      else if (flag.takes_path())
        out += " -r -F";
      else if (!flag.value.empty())
        out += " -x";
      out += " -d " + shell_word(flag.meaning) + "\n";
    });
  });
  return out;
}

}  // namespace sluice
