#include "common/memory.hpp"

#include <sys/prctl.h>

namespace sluice {

void use_small_pages() {
  ::prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace sluice
