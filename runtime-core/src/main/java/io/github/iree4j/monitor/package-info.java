/**
 * What operators see of a runtime: open objects, timelines, devices, workers, the calls of each program, and listeners
 * to calls. Used by metrics, health checks, traces and consoles; a program is loaded and called without this package.
 *
 * <p>Start at {@link io.github.iree4j.IreeRuntime#monitor()} or {@link io.github.iree4j.Program#monitor()}. Every type is
 * safe to share between threads. Only the runtime implements monitors, which may get further methods; applications
 * implement listeners.
 */
@NotForApplications
@NullMarked
package io.github.iree4j.monitor;

import io.github.iree4j.api.NotForApplications;
import org.jspecify.annotations.NullMarked;
