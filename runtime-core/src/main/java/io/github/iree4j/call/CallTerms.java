package io.github.iree4j.call;

import io.github.iree4j.async.Fence;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a call besides its arguments.
 *
 * @param after the fence that the call waits for; null when the inputs are ready
 * @param signal the fence signalled by the call; null for none
 * @param priority the priority among calls of the program
 * @param deadline the end of the call's time
 */
public record CallTerms(@Nullable Fence after, @Nullable Fence signal, int priority, CallDeadline deadline) {}
