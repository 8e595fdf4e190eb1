/**
 * Code for the CPU: the loaders, {@link io.github.iree4j.hal.loader.ExecutableLoader}, and the interface to run
 * workgroups of loaded code.
 *
 * <p>Machine code is loaded here; other kinds of code come from loaders found by Java's service loader, or named in
 * {@code DeviceOptions}.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.hal.loader;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
