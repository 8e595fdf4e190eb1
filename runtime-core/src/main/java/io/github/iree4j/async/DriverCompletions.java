package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.CompletionRing;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Driver operations, whose outcomes driver threads push to the completion ring. */
final class DriverCompletions {
    /*
     * Each operation reserves a place in the ring before it is submitted, so that its push finds room. A push that finds none, because a
     * driver pushed more often than it had operations, makes the ring lossy; it is then unknown which operations have ended, so the whole
     * proactor fails.
     */
    private static final Logger LOG = LoggerFactory.getLogger(DriverCompletions.class);
    private static final int CAPACITY = 4096;

    private final CompletionRing ring = CompletionRing.create(CAPACITY);
    private final Object lock = new Object();
    private final Map<Long, Completion> live = new HashMap<>(); // guarded by lock, like the next two
    private @Nullable IreeException stopCause;
    private long tokens;

    CompletionRing ring() {
        return ring;
    }

    long begin(Completion completion) {
        synchronized (lock) {
            if (stopCause != null) {
                throw stopCause.during("submission to a driver");
            }
            if (live.size() == CAPACITY) {
                throw new IreeException(
                        StatusCode.RESOURCE_EXHAUSTED,
                        CAPACITY + " driver operations are in flight; wait for some to end");
            }
            long token = ++tokens;
            live.put(token, completion);
            return token;
        }
    }

    boolean abandon(long token) {
        return remove(token) != null;
    }

    private @Nullable Completion remove(long token) {
        synchronized (lock) {
            return live.remove(token);
        }
    }

    int poll(int limit) {
        int called = ring.poll(limit, (token, status, nativeCode) -> {
            Completion completion = remove(token);
            if (completion != null) {
                call(completion, nativeCode, status == 0 ? null : failure(status, nativeCode));
            }
        });
        if (ring.isLossy()) {
            throw new IreeException(
                    StatusCode.ABORTED,
                    "a driver reported more completions than it had operations; some were lost, so the state of its operations is unknown");
        }
        return called;
    }

    private static IreeException failure(int status, int nativeCode) {
        return new IreeException(
                StatusCode.of(status), "a driver operation failed with the driver's code " + nativeCode);
    }

    private static void call(Completion completion, long result, @Nullable IreeException failure) {
        try {
            completion.ended(failure == null ? result : 0, failure);
        } catch (Throwable t) {
            LOG.error("the completion of a driver operation threw", t);
        }
    }

    int pending() {
        synchronized (lock) {
            return live.size();
        }
    }

    void stop(IreeException cause) {
        List<Completion> all;
        synchronized (lock) {
            stopCause = cause;
            all = new ArrayList<>(live.values());
            live.clear();
        }
        all.forEach(each -> call(each, 0, cause));
    }
}
