/** Benchmarks of the task system. */
@NullMarked
package io.github.iree4j.task;

import org.jspecify.annotations.NullMarked;
