/** GPUs through our queues, beside the same work in C. */
@NullMarked
package io.github.iree4j.hal.gpu;

import org.jspecify.annotations.NullMarked;
