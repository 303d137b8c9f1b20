#pragma once

#include "common/documents/finding.hpp"
#include "common/model/completion.hpp"
#include "common/model/run_settings.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

class TableReader;

/// What models cost (config/prices.toml): US dollars per million tokens. Immutable after parsing;
/// thread-safe.
class PriceTable {
 public:
  /// Reads the TOML text; `origin` is the findings' file. Either the table or everything that is wrong.
  static tl::expected<PriceTable, std::vector<Finding>> parse(std::string_view toml,
                                                              const std::string& origin);

  const std::string& version() const { return version_; }

  /// The price of the tokens in US dollars; nothing if the model is not in the table. An exact name goes
  /// before a prefix, and a longer prefix before a shorter one.
  std::optional<double> cost(ProviderKind kind, std::string_view model, const Usage& usage) const;

  /// The first models of a kind that answer (no embeddings), by their exact names: at most `most`.
  std::vector<std::string> models(ProviderKind kind, std::size_t most) const;

 private:
  struct Price {
    ProviderKind kind = ProviderKind::openai;
    std::string model;  ///< Without the `*`.
    bool is_prefix = false;
    double input = 0.0;
    double output = 0.0;
  };
  static std::optional<Price> read_price(TableReader& reader);

  std::string version_;
  std::vector<Price> prices_;
};

}  // namespace sluice
