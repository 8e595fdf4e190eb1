package io.github.iree4j.status;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The wait in which a call was ended; and the failure of a call at its deadline, the same for all ways of calling.
 *
 * @param awaited what the call waited for, for example {@code 4096 bytes of memory}; empty if the call did not wait
 */
@NotForApplications
public record CallWait(String awaited) implements FailureDetail {
    /**
     * Returns the failure of a call at its deadline.
     *
     * @param function the function's full name
     * @param limit the maximum duration of the call
     * @param awaited as above
     * @return the failure, DEADLINE_EXCEEDED
     */
    public static IreeException late(String function, @Nullable Duration limit, String awaited) {
        return late(function, limit, awaited, null);
    }

    /**
     * Returns the failure of a call that was ended at its deadline.
     *
     * @param function the function's full name
     * @param limit the maximum duration of the call
     * @param end the end of the call; says what the call waited for, if known
     * @return the failure, DEADLINE_EXCEEDED
     */
    public static IreeException late(String function, @Nullable Duration limit, IreeException end) {
        CallWait wait = end.detail(CallWait.class).orElse(null);
        return late(function, limit, wait == null ? "" : wait.awaited, end);
    }

    private static IreeException late(
            String function, @Nullable Duration limit, String awaited, @Nullable IreeException cause) {
        return IreeException.of(
                StatusCode.DEADLINE_EXCEEDED,
                "call of '%s' took longer than %s%s"
                        .formatted(
                                function,
                                limit == null ? "its limit" : DurationText.of(limit),
                                awaited.isEmpty() ? "" : ", waiting for " + awaited),
                cause);
    }
}
