/**
 * Outcome codes, and the exception carrying a code.
 *
 * <p>Start at {@link io.github.iree4j.status.IreeException}. Values only; every type is safe to share between threads.
 */
@NullMarked
package io.github.iree4j.status;

import org.jspecify.annotations.NullMarked;
