/**
 * The laboratory: scenarios of work on several kinds of hardware, run by the scheduler on virtual devices,
 * deterministically and without real time.
 *
 * <p>Start at {@link io.github.iree4j.lab.Laboratory}. For this project's own modules.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.lab;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
