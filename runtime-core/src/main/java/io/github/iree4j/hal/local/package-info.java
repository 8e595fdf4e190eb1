/**
 * The CPU as a device: runs compiled code on workers; submitting and waiting threads help.
 *
 * <p>Start at {@link io.github.iree4j.hal.local.LocalDriverProvider}; everything else is reached through the interfaces
 * of {@code hal}. {@link io.github.iree4j.hal.local.HostDevice} is the common part of the CPU and the virtual device.
 */
@NullMarked
package io.github.iree4j.hal.local;

import org.jspecify.annotations.NullMarked;
