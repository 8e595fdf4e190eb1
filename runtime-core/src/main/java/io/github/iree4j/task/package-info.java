/**
 * Cooperative execution: processes that workers drain, and where workers run.
 *
 * <p>Start at {@link io.github.iree4j.task.Topology}.
 */
@NullMarked
package io.github.iree4j.task;

import org.jspecify.annotations.NullMarked;
