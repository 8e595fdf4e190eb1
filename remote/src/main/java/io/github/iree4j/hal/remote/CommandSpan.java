package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The span of a command in a trace, from the moment when all awaited points are reached to the end of the command. Both
 * moments are reported to the tracer on the threads of their occurrence.
 */
final class CommandSpan {
    private static final Logger LOG = LoggerFactory.getLogger(CommandSpan.class);

    private final RemoteTracer tracer;
    private final RemoteWork work;
    private final AtomicInteger left;
    private volatile @Nullable Consumer<@Nullable IreeException> begun;

    /**
     * Creates a span beginning after {@code points} calls of {@link #reached}.
     *
     * @param points at least 1
     */
    CommandSpan(RemoteTracer tracer, RemoteWork work, int points) {
        this.tracer = tracer;
        this.work = work;
        this.left = new AtomicInteger(points);
    }

    /** Records that a point is reached, or has failed. */
    void reached() {
        if (left.decrementAndGet() == 0) {
            try {
                begun = tracer.begin(work);
            } catch (RuntimeException | Error e) { // the client must not hang
                LOG.warn("{} of {} has no span", work.name(), work.peer(), e);
            }
        }
    }

    /** Records the end of the command. Called once, after the last {@link #reached}. */
    void ended(@Nullable IreeException failure) {
        Consumer<@Nullable IreeException> told = begun;
        if (told == null) {
            return;
        }
        try {
            told.accept(failure);
        } catch (RuntimeException | Error e) {
            LOG.warn("the span of {} of {} does not end", work.name(), work.peer(), e);
        }
    }
}
