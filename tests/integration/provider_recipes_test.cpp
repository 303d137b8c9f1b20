// The recipes of docs/providers.md, each against a server that wants requests of that shape and takes no
// other.
#include "tests/support/paths.hpp"
#include "tests/support/workbench.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::provider_recipes_test {

using namespace support;
using nlohmann::json;

struct Recipe {
  std::string provider;    ///< Of its table.
  std::string address;     ///< What stands in the recipe before the path, and here the simulator's.
  std::string variable;    ///< That holds its key; empty: none.
  Flags required;          ///< Of the simulator.
  std::string target;      ///< Where the request must go.
  std::string body_field;  ///< What the body must hold.
};

const std::vector<Recipe> recipes{
    {"azure",
     "https://NAME.openai.azure.com",
     "AZURE_OPENAI_API_KEY",
     {"--require-header", "api-key=recipe-secret-0123", "--require-query", "api-version=2024-10-21"},
     "/openai/deployments/DEPLOYMENT/chat/completions?api-version=2024-10-21",
     "max_completion_tokens"},
    {"openrouter",
     "https://openrouter.ai",
     "OPENROUTER_API_KEY",
     {"--require-key", "recipe-secret-0123", "--require-header", "X-Title=evals"},
     "/api/v1/chat/completions",
     "provider"},
    {"ollama", "http://127.0.0.1:11434", "", {}, "/v1/chat/completions", "max_tokens"},
    {"vllm", "http://127.0.0.1:8000", "", {}, "/v1/chat/completions", "repetition_penalty"},
    {"bedrock",
     "https://GATEWAY",
     "BEDROCK_GATEWAY_KEY",
     {"--require-header", "Authorization=Bearer recipe-secret-0123"},
     "/api/v1/chat/completions",
     "max_tokens"},
};

class ProviderRecipes : public Workbench {};

/// The TOML block of the page that has the provider's table; empty if there is none.
std::string recipe_of(const std::string& provider) {
  const std::string page = read_text(source_path("docs/providers.md"));
  const auto table = page.find("```toml\n[providers." + provider + "]\n");
  if (table == std::string::npos) return "";
  const auto begin = table + std::string("```toml\n").size();
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST_F(ProviderRecipes, ReachTheServersThatTheyAreFor) {
  write_text(
      folder() / "suite.yaml",
      "suite: s\ntests:\n- {id: t, input: {prompt: hello}, expected: {type: regex_match, pattern: \".\"}}\n");
  set_variable("OPENAI_API_KEY", "");
  for (const Recipe& recipe : recipes) {
    SCOPED_TRACE(recipe.provider);
    const auto server =
        start_simulator(recipe.required + Flags{"--requests", (folder() / "requests.jsonl").string()});
    std::string table = recipe_of(recipe.provider);
    const auto address = table.find(recipe.address);
    ASSERT_NE(address, std::string::npos) << table;
    table.replace(address, recipe.address.size(), server.url());
    write_text(folder() / "sluice.toml", table);
    if (!recipe.variable.empty()) set_variable(recipe.variable, "recipe-secret-0123");
    const auto finished = run_sluice(
        {"run", "suite.yaml", "--mode", "live", "--provider", recipe.provider, "--format", "json"});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
    std::istringstream lines(read_text(folder() / "requests.jsonl"));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const json sent = json::parse(line);
    EXPECT_EQ(sent["target"], recipe.target);
    EXPECT_TRUE(sent["body"].contains(recipe.body_field)) << sent["body"];
    if (recipe.variable.empty()) continue;
    set_variable(recipe.variable, "another-secret-0123");
    const auto refused = run_sluice({"run", "suite.yaml", "--mode", "live", "--provider", recipe.provider,
                                     "--refresh", "--format", "json"});
    EXPECT_EQ(refused.exit_code, 2) << "the server wants the key of the recipe's variable";
  }
}

}  // namespace sluice::provider_recipes_test
