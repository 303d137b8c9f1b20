// The steps of deploy/ci/*.yml, read from these files and run as shell in a repository of their own, as a
// runner would. What the runner itself does (checkout, upload) is left out, and so are steps whose name
// begins with "Install".

#include "tests/support/paths.hpp"
#include "tests/support/workbench.hpp"

#include <fstream>

#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;
namespace fs = std::filesystem;

enum class Platform { github, gitlab };

const std::string provider_key = "key-for-tests";
const std::string push_token = "token-for-tests";
const std::string nobody_listens = "http://127.0.0.1:1/v1";

struct Step {
  std::string script;
  Variables variables;
  bool always = false;  ///< Runs after a failed step too.
};

struct Job {
  std::vector<Step> steps;
  std::vector<std::string> artifacts;  ///< Paths from the checkout; `*` at the end stands for anything.
};

YAML::Node load_example(const std::string& name) {
  return YAML::LoadFile(support::source_path("deploy/ci/" + name));
}

std::string text_of(const YAML::Node& node) {
  return node ? node.as<std::string>() : "";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The variables of an `env` or `variables` block, GitHub's expressions evaluated.
Variables variables_of(const YAML::Node& block) {
  Variables variables;
  for (const auto& entry : block) {
    auto value = text_of(entry.second);
    if (value == "${{ secrets.OPENAI_API_KEY }}") value = provider_key;
    EXPECT_EQ(value.find("${{"), std::string::npos) << "no runner is here to evaluate " << value;
    variables[text_of(entry.first)] = value;
  }
  return variables;
}

Job read_github_job(const std::string& name) {
  const auto workflow = load_example("github-actions.yml");
  EXPECT_EQ(text_of(workflow["defaults"]["run"]["shell"]), "bash");
  Job job;
  for (const auto& step : workflow["jobs"][name]["steps"]) {
    const auto condition = text_of(step["if"]);
    EXPECT_TRUE(condition.empty() || condition == "always()") << condition;
    const auto action = text_of(step["uses"]);
    if (action.starts_with("actions/upload-artifact@")) {
      for (const auto& path : lines_of(text_of(step["with"]["path"]))) job.artifacts.push_back(path);
    } else if (!action.empty()) {
      EXPECT_TRUE(action.starts_with("actions/checkout@")) << action;
    } else if (!text_of(step["name"]).starts_with("Install")) {
      const auto script = text_of(step["run"]);
      EXPECT_EQ(script.find("${{"), std::string::npos) << "text from outside would run as shell: " << script;
      auto variables = variables_of(step["env"]);
      variables.merge(variables_of(workflow["env"]));
      job.steps.push_back({script, std::move(variables), condition == "always()"});
    }
  }
  return job;
}

Job read_gitlab_job(const std::string& name) {
  const auto pipeline = load_example("gitlab-ci.yml");
  const auto definition = pipeline["sluice-" + name];
  Step step{"", variables_of(pipeline["variables"]), false};
  for (const auto& line : definition["script"]) step.script += text_of(line) + "\n";
  // The key is a variable of this environment alone (docs/ci.md).
  const auto environment = definition["environment"];
  if (environment && text_of(environment["name"]) == "sluice-live")
    step.variables["OPENAI_API_KEY"] = provider_key;
  Job job{{std::move(step)}, {}};
  if (const auto artifacts = definition["artifacts"]) {
    for (const auto& path : artifacts["paths"]) job.artifacts.push_back(text_of(path));
    if (const auto reports = artifacts["reports"]) job.artifacts.push_back(text_of(reports["junit"]));
  }
  return job;
}

std::vector<fs::path> files_like(const fs::path& checkout, const std::string& pattern) {
  const bool is_prefix = pattern.ends_with('*');
  const auto path = checkout / (is_prefix ? pattern.substr(0, pattern.size() - 1) : pattern);
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(path.parent_path())) {
    const auto name = entry.path().filename().string();
    const auto wanted = path.filename().string();
    if (is_prefix ? name.starts_with(wanted) : name == wanted) found.push_back(entry.path());
  }
  return found;
}

std::string replaced(std::string text, const std::string& old, const std::string& with) {
  const auto at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << text;
  return at == std::string::npos ? text : text.replace(at, old.size(), with);
}

/// What a job left behind.
struct JobResult {
  ExitCode exit_code = 0;
  std::string output;  ///< Of all its steps.
  std::string errors;
  std::string summary;  ///< What GitHub shows on the run's page.
};

class CiExamples : public Workbench, public ::testing::WithParamInterface<Platform> {
 protected:
  void SetUp() override {
    fs::create_directories(runner_home());
    write_text(runner_home() / ".gitconfig",
               "[user]\n  name = Tester\n  email = tester@example.com\n[url \"" + origin() +
                   "\"]\n  insteadOf = https://gitlab.example.com/team/evals.git\n");
    const auto seed = folder() / "seed";
    fs::copy(support::source_path("tests/integration/data/ci"), seed, fs::copy_options::recursive);
    git(folder(), "init -q --bare -b main origin.git");
    git(folder() / "origin.git", "config receive.advertisePushOptions true");
    git(seed, "init -q -b main");
    git(seed, "add .gitattributes sluice.toml evals");
    git(seed, "commit -q -m Evals");
    git(seed, "push -q " + origin() + " main");
  }

  static bool is_github() { return GetParam() == Platform::github; }
  static Job read_job(const std::string& name) {
    return is_github() ? read_github_job(name) : read_gitlab_job(name);
  }

  SimulatorProcess start_provider() {
    return start_simulator({"--require-key", provider_key, "--script",
                            support::source_path("tests/integration/data/ci/answers.jsonl")});
  }

  // --- The repository ---

  std::string origin() const { return "file://" + (folder() / "origin.git").string(); }

  // A fresh clone of a branch, as a job finds it.
  fs::path check_out(const std::string& branch) {
    const auto name = "checkout-" + std::to_string(++checkouts_);
    git(folder(), "clone -q --branch " + branch + " " + origin() + " " + name);
    return folder() / name;
  }

  // Runs a git command and returns what it prints.
  std::string git(const fs::path& where, const std::string& command) {
    const auto finished = run_script(where, "git " + command + "\n", runner_variables(where));
    EXPECT_EQ(finished.exit_code, 0) << command << ": " << finished.errors;
    return finished.output;
  }

  std::string head_of(const std::string& branch) {
    return git(folder() / "origin.git", "rev-parse " + branch);
  }

  // A new branch with one file changed.
  void push_change(const std::string& branch, const std::string& file, const std::string& old,
                   const std::string& with) {
    const auto checkout = check_out("main");
    git(checkout, "checkout -q -b " + branch);
    write_text(checkout / file, replaced(read_text(checkout / file), old, with));
    git(checkout, "commit -q -a -m Change");
    git(checkout, "push -q origin " + branch);
  }

  // --- Jobs ---

  JobResult run_job(const std::string& name, const fs::path& checkout, const std::string& base_url) {
    const auto job = read_job(name);
    EXPECT_FALSE(job.steps.empty()) << "there is no job " << name;
    auto variables = runner_variables(checkout);
    variables["SLUICE_BASE_URL"] = base_url;
    JobResult result;
    for (const auto& step : job.steps) {
      if (result.exit_code != 0 && !step.always) continue;
      auto all = step.variables;
      all.insert(variables.begin(), variables.end());
      const auto finished = run_script(checkout, step.script, all);
      result.output += finished.output;
      result.errors += finished.errors;
      if (result.exit_code == 0) result.exit_code = finished.exit_code.value_or(-1);
    }
    result.summary =
        read_text(variables.contains("GITHUB_STEP_SUMMARY") ? variables["GITHUB_STEP_SUMMARY"]
                                                            : (checkout / "sluice-report.md").string());
    return result;
  }

  JobResult run_offline(const std::string& name, const fs::path& checkout) {
    for (const auto& step : read_job(name).steps) {
      EXPECT_FALSE(step.variables.contains("OPENAI_API_KEY")) << name << " should do without a key";
    }
    return run_job(name, checkout, nobody_listens);
  }

  // What the main branch has once its own job went through.
  void pin_main(const SimulatorProcess& provider) {
    const auto pinned = run_job("pin", check_out("main"), provider.url() + "/v1");
    ASSERT_EQ(pinned.exit_code, 0) << pinned.errors << pinned.output;
  }

  // Runs the job `answers` for a branch, and commits what it uploads as the author would.
  void renew_answers(const std::string& branch, const SimulatorProcess& provider) {
    const auto runner = check_out(branch);
    const auto renewed = run_job("answers", runner, provider.url() + "/v1");
    ASSERT_EQ(renewed.exit_code, 0) << renewed.errors << renewed.output;
    const auto author = check_out(branch);
    for (const auto& path : read_job("answers").artifacts) {
      ASSERT_TRUE(fs::exists(runner / path)) << path;
      fs::copy_file(runner / path, author / path, fs::copy_options::overwrite_existing);
    }
    git(author, "add evals");
    git(author, "commit -q -m Answers");
    git(author, "push -q origin " + branch);
  }

  static void expect_artifacts(const fs::path& checkout, const std::string& job) {
    const auto artifacts = read_job(job).artifacts;
    EXPECT_FALSE(artifacts.empty());
    for (const auto& path : artifacts) {
      EXPECT_FALSE(files_like(checkout, path).empty()) << path << " is not there";
      for (const auto& file : files_like(checkout, path)) EXPECT_NE(read_text(file), "") << file;
    }
  }

 private:
  fs::path runner_home() const { return folder() / "runner"; }

  Variables runner_variables(const fs::path& checkout) const {
    Variables variables{{"HOME", runner_home().string()},
                        {"PATH", support::program_path("") + ":/usr/bin:/bin"},
                        {"GIT_CONFIG_NOSYSTEM", "1"},
                        {"CI", "true"}};
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) variables[name] = value;
    }
    if (is_github()) {
      variables["GITHUB_WORKSPACE"] = checkout.string();
      variables["GITHUB_BASE_REF"] = "main";
      variables["GITHUB_STEP_SUMMARY"] = checkout.string() + ".summary.md";
    } else {
      variables["CI_PROJECT_DIR"] = checkout.string();
      variables["CI_DEFAULT_BRANCH"] = "main";
      variables["CI_MERGE_REQUEST_TARGET_BRANCH_NAME"] = "main";
      variables["CI_SERVER_HOST"] = "gitlab.example.com";
      variables["CI_PROJECT_PATH"] = "team/evals";
      variables["SLUICE_PUSH_TOKEN"] = push_token;
    }
    return variables;
  }

  Finished run_script(const fs::path& where, const std::string& script, const Variables& variables) {
    const auto stem = (folder() / ("step-" + std::to_string(++scripts_))).string();
    write_text(stem + ".sh", script);
    Process process(Command{{"/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", stem + ".sh"},
                            variables,
                            where,
                            stem + ".out",
                            stem + ".err"});
    return finish(process);
  }

  int checkouts_ = 0;
  int scripts_ = 0;
};

TEST_P(CiExamples, TheMainBranchPinsScoresAndAnswers) {
  const auto provider = start_provider();
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  const auto checkout = check_out("main");
  const auto baseline = json::parse(read_text(checkout / "evals" / "baseline.json"), nullptr, false);
  ASSERT_TRUE(baseline.is_object());
  EXPECT_EQ(baseline["suite"], "support_bot");
  EXPECT_EQ(baseline["entries"].size(), 7u) << "with the forbidden claims of its fixture: " << baseline;
  for (const auto* file : {"baseline.json", "answers.cassette"}) {
    EXPECT_EQ(read_text(checkout / "evals" / file).find(provider_key), std::string::npos) << file;
  }

  const auto head = head_of("main");
  const auto calls = provider.count("start");
  EXPECT_GT(calls, 0u);
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  EXPECT_EQ(head_of("main"), head) << "nothing changed, so there is nothing to commit";
  EXPECT_EQ(provider.count("start"), calls) << "every answer is in the cassette";
}

TEST_P(CiExamples, APullRequestIsGatedWithoutProviderAndKey) {
  auto provider = start_provider();
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  provider.final_events();  // The provider is gone.
  const auto checkout = check_out("main");
  const auto gated = run_offline("gate", checkout);
  EXPECT_EQ(gated.exit_code, 0) << gated.errors << gated.output;
  expect_artifacts(checkout, "gate");
  const auto junit = read_text(checkout / "sluice-report.xml");
  EXPECT_TRUE(junit.starts_with("<?xml")) << junit;
  for (const auto* id : {"refund", "tone", "tls-verification"}) {
    EXPECT_NE(junit.find(id), std::string::npos) << id;
  }
  EXPECT_EQ(junit.find("<failure"), std::string::npos) << junit;
  EXPECT_NE(gated.summary.find("PASS"), std::string::npos) << gated.summary;
  EXPECT_EQ(gated.output.find("::error"), std::string::npos) << gated.output;
  const auto compared = run_offline("baseline-change", checkout);
  EXPECT_EQ(compared.exit_code, 0) << compared.errors << compared.output;
}

TEST_P(CiExamples, ARegressionFailsTheJob) {
  const auto provider = start_provider();
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  const auto checkout = check_out("main");
  auto baseline = json::parse(read_text(checkout / "evals" / "baseline.json"));
  bool raised = false;
  for (auto& entry : baseline["entries"]) {
    if (entry["metric"] != "semantic_similarity_to") continue;
    EXPECT_LT(entry["score"], 0.9) << "the test needs room for a drop";
    entry["score"] = 1.0;
    raised = true;
  }
  ASSERT_TRUE(raised) << baseline;
  write_text(checkout / "evals" / "baseline.json", baseline.dump(2));

  const auto gated = run_offline("gate", checkout);
  EXPECT_EQ(gated.exit_code, 1) << gated.errors << gated.output;
  expect_artifacts(checkout, "gate");
  EXPECT_NE(read_text(checkout / "sluice-report.xml").find("<failure"), std::string::npos);
  EXPECT_NE(gated.summary.find("REGRESSION"), std::string::npos) << gated.summary;
  EXPECT_NE(gated.summary.find("refund"), std::string::npos) << gated.summary;
  if (is_github()) {
    EXPECT_NE(gated.output.find("::error"), std::string::npos) << gated.output;
  }
  EXPECT_EQ(run_offline("baseline-change", checkout).exit_code, 0) << "the bar was raised, not lowered";
}

TEST_P(CiExamples, AChangedPromptNeedsItsAnswers) {
  const auto provider = start_provider();
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  push_change("politer", "evals/suite.yaml", "return a lamp?", "return a lamp, please?");
  const auto before = run_offline("gate", check_out("politer"));
  EXPECT_EQ(before.exit_code, 2) << before.output;
  EXPECT_NE(before.errors.find("refund"), std::string::npos) << before.errors;
  EXPECT_EQ(before.errors.find("tone"), std::string::npos) << "its answer is there: " << before.errors;
  EXPECT_NE(before.errors.find("the same command with `--mode live` asks for it"), std::string::npos)
      << before.errors;
  EXPECT_EQ(before.errors.find("--resume"), std::string::npos)
      << "another mode is another run: " << before.errors;
  EXPECT_NE(before.summary.find("refund"), std::string::npos) << before.summary;
  EXPECT_NE(before.summary.find("--mode live --export-baseline evals/baseline.json"), std::string::npos)
      << "a cached run lacks the answer again: " << before.summary;

  const auto calls = provider.count("start");
  ASSERT_NO_FATAL_FAILURE(renew_answers("politer", provider));
  EXPECT_EQ(provider.count("start"), calls + 1) << "only the changed prompt is paid for";
  const auto checkout = check_out("politer");
  const auto after = run_offline("gate", checkout);
  EXPECT_EQ(after.exit_code, 0) << after.errors << after.output;
  const auto compared = run_offline("baseline-change", checkout);
  EXPECT_EQ(compared.exit_code, 0) << compared.errors << compared.output;
}

TEST_P(CiExamples, AWorsePromptFailsWhateverBaselineItBrings) {
  const auto provider = start_provider();
  ASSERT_NO_FATAL_FAILURE(pin_main(provider));
  push_change("shorter", "evals/suite.yaml", "return a lamp?", "return a lamp, in one word?");
  ASSERT_NO_FATAL_FAILURE(renew_answers("shorter", provider));
  const auto checkout = check_out("shorter");
  const auto gated = run_offline("gate", checkout);
  EXPECT_EQ(gated.exit_code, 1) << gated.errors << gated.output;
  const auto compared = run_offline("baseline-change", checkout);
  EXPECT_EQ(compared.exit_code, 1) << compared.errors << compared.output;
  EXPECT_NE(compared.output.find("refund"), std::string::npos) << compared.output;
}

INSTANTIATE_TEST_SUITE_P(Platforms, CiExamples, ::testing::Values(Platform::github, Platform::gitlab),
                         [](const auto& tested) {
                           return tested.param == Platform::github ? "GitHub" : "GitLab";
                         });

}  // namespace
}  // namespace sluice
