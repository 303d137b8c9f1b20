#include "worker/cli/worker_cli.hpp"

int main(int argc, char** argv) {
  return sluice::run_worker_cli(argc, argv);
}
