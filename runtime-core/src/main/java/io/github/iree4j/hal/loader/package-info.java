/**
 * Code for the CPU: what loads it, {@link io.github.iree4j.hal.loader.ExecutableLoader}, and how workgroups of what was loaded are called.
 *
 * <p>Machine code is loaded here; other kinds of code come from loaders that Java's service loader finds, or that {@code DeviceOptions} names.
 */
@NullMarked
package io.github.iree4j.hal.loader;

import org.jspecify.annotations.NullMarked;
