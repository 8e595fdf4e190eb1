// Runs dispatches of the fake. It does not run code yet: they do nothing.
#include "fake_vulkan.h"

void fake_dispatch(const fake_op_t* op, const uint32_t groups[3]) {
  (void)op, (void)groups;
}
