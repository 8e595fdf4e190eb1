/**
 * The CPU as a device: runs compiled code on the threads that submit it or resolve what it waits for.
 *
 * <p>Start at {@link io.github.iree4j.hal.local.LocalDriverProvider}; everything else is reached through the interfaces of
 * {@code hal}. {@link io.github.iree4j.hal.local.HostDevice} is what the CPU and the virtual device share.
 */
@NullMarked
package io.github.iree4j.hal.local;

import org.jspecify.annotations.NullMarked;
