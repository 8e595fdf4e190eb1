package io.github.iree4j.call;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.async.Fence;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a call besides its arguments.
 *
 * @param after the fence that the call waits for; null when the inputs are ready
 * @param signal the fence signalled by the call; null for none
 * @param priority the priority among calls of the program
 * @param deadline the deadline of the call; null for none
 * @param isPatienceLimited whether the caller has set a deadline, so that no wait of the caller is endless
 */
public record CallTerms(
        @Nullable Fence after,
        @Nullable Fence signal,
        int priority,
        @Nullable Deadline deadline,
        boolean isPatienceLimited) {

    /** Returns the maximum duration of the call, for messages; null for any. */
    @Nullable
    Duration limit() {
        return deadline == null ? null : deadline.timeout();
    }
}
