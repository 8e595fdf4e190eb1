/**
 * Outcome codes, the exceptions carrying a code, and observations made by every layer.
 *
 * <p>Start at {@link io.github.iree4j.status.IreeException}. Every type is safe to share between threads.
 */
@NullMarked
package io.github.iree4j.status;

import org.jspecify.annotations.NullMarked;
