#pragma once

#include <span>
#include <string_view>

/// The data files of config/ as they were when the program was built.
namespace sluice::embedded {

extern const std::string_view ontology;           ///< ontology.toml
extern const std::string_view claims_prompt;      ///< prompts/claims.toml
extern const std::string_view claims_schema;      ///< schemas/claims.schema.json
extern const std::string_view vote_schema;        ///< schemas/vote.schema.json
extern const std::string_view comparison_schema;  ///< schemas/comparison.schema.json
extern const std::string_view prices;             ///< prices.toml
extern const std::string_view default_plugin;     ///< plugins/default/plugin.yaml
extern const std::string_view triggers;           ///< triggers.toml
extern const std::string_view report_schema;      ///< schemas/report.schema.json
extern const std::string_view javascript_check;   ///< import/promptfoo_check.cjs
extern const std::string_view python_check;       ///< import/promptfoo_check.py
extern const std::string_view report_style;       ///< report/report.css
extern const std::string_view report_script;      ///< report/report.js
extern const std::string_view view_script;        ///< report/view.js

struct EmbeddedFile {
  std::string_view path;  ///< "rubrics/faithfulness/v1.toml"
  std::string_view text;
};

extern const std::span<const EmbeddedFile> rubrics;  ///< rubrics/ID/VERSION.toml, by path

}  // namespace sluice::embedded
