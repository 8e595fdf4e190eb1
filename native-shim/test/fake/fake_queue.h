// The interface between queues and recorded commands of the fake.
#ifndef IREE4J_FAKE_QUEUE_H_
#define IREE4J_FAKE_QUEUE_H_

#include "fake_vulkan.h"

// Runs recorded commands, without the lock.
void fake_run(fake_commands_t* commands);

// Whether recorded commands use the buffer, or its memory.
bool fake_uses(const fake_commands_t* commands, const fake_buffer_t* buffer,
               const fake_memory_t* memory);

#endif  // IREE4J_FAKE_QUEUE_H_
