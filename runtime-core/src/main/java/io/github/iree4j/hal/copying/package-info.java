/**
 * Devices that have no memory in common, as a program for several sees them: what one uses of another's memory is copied, in queue order.
 *
 * <p>Start at {@link io.github.iree4j.hal.copying.CopyingDevice}. Safe from any thread, but for command buffers while they are recorded.
 */
@NullMarked
package io.github.iree4j.hal.copying;

import org.jspecify.annotations.NullMarked;
