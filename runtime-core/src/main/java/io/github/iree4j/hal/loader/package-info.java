/**
 * Code for the CPU: its loaders, {@link io.github.iree4j.hal.loader.ExecutableLoader}, and the interface to run workgroups of loaded code.
 *
 * <p>Machine code is loaded here; other kinds of code come from loaders that Java's service loader finds, or that {@code DeviceOptions} names.
 */
@NullMarked
package io.github.iree4j.hal.loader;

import org.jspecify.annotations.NullMarked;
