package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows traces from node to node; implemented by a tracer. Safe from any thread. Methods MUST NOT block, submit or
 * signal; thrown exceptions are logged, and the work goes on.
 */
public interface RemoteTracer {
    /** Follows nothing. */
    RemoteTracer NONE = new RemoteTracer() {};

    /**
     * Returns the span of the calling thread. Called by threads submitting operations to devices of other nodes, once
     * for each operation; the result goes with the commands.
     *
     * @return the span; null for none, and for a span of a trace that is not sampled
     */
    default @Nullable TraceParent current() {
        return null;
    }

    /**
     * Called when this node begins a command of a peer sent with a span: all awaited points are reached. Runs on a
     * thread completing work, without locks.
     *
     * @param work the command
     * @return called once when the command has ended, before the peer is notified: with the failure, or null
     */
    default Consumer<@Nullable IreeException> begin(RemoteWork work) {
        return _ -> {};
    }
}
