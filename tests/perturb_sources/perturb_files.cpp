// perturb-files: for scripts/check-perturbations. Reads lines "LANGUAGE<TAB>PATH"; for each writes,
// perturbation by perturbation of code in the catalogue's order, "changed SIZE" and the text, "unchanged", or
// "skipped REASON". With --names it prints the names of these instead.
#include "coordinator/perturb/perturbation.hpp"

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

void print(const sluice::Perturbed& perturbed) {
  switch (perturbed.outcome) {
    case sluice::PerturbationOutcome::changed:
      std::cout << "changed " << perturbed.text.size() << '\n' << perturbed.text;
      return;
    case sluice::PerturbationOutcome::unchanged:
      std::cout << "unchanged\n";
      return;
    case sluice::PerturbationOutcome::skipped:
      std::cout << "skipped " << perturbed.reason << '\n';
      return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--names") {
    for (const auto& one : sluice::perturbations()) {
      if (!one.of_prose) std::cout << one.name << '\n';
    }
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto tab = line.find('\t');
    if (tab == std::string::npos) {
      std::cerr << "perturb-files: a line without a tab: " << line << '\n';
      return 2;
    }
    std::ifstream file(line.substr(tab + 1), std::ios::binary);
    if (!file) {
      std::cerr << "perturb-files: cannot read " << line.substr(tab + 1) << '\n';
      return 2;
    }
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const auto& perturbation : sluice::perturbations()) {
      if (!perturbation.of_prose) print(sluice::perturb(perturbation, line.substr(0, tab), text));
    }
    std::cout.flush();
  }
  return 0;
}
