/** Benchmarks of Vulkan devices. */
@NullMarked
package io.github.iree4j.hal.vulkan;

import org.jspecify.annotations.NullMarked;
