package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of a trace that is a command: from when all its points are reached to its end. Tells the tracer of both on the threads that they happen
 * on.
 */
final class CommandSpan {
    private static final Logger LOG = LoggerFactory.getLogger(CommandSpan.class);

    private final RemoteTracer tracer;
    private final RemoteWork work;
    private final AtomicInteger left;
    private volatile @Nullable Consumer<@Nullable IreeException> begun;

    /**
     * Creates a span that begins after as many calls of {@link #reached}.
     *
     * @param points at least 1
     */
    CommandSpan(RemoteTracer tracer, RemoteWork work, int points) {
        this.tracer = tracer;
        this.work = work;
        this.left = new AtomicInteger(points);
    }

    /** A point is reached, or has failed. */
    void reached() {
        if (left.decrementAndGet() == 0) {
            try {
                begun = tracer.begin(work);
            } catch (RuntimeException | Error e) { // the client must not hang
                LOG.warn("{} of {} has no span", work.name(), work.peer(), e);
            }
        }
    }

    /** The command has ended. Called once, after the last {@link #reached}. */
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
