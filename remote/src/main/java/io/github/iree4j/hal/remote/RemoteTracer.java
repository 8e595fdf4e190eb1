package io.github.iree4j.hal.remote;

import io.github.iree4j.status.IreeException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows traces from node to node: what a tracer implements. Safe from any thread. Methods MUST NOT block, submit or signal; what they throw
 * is logged, and the work goes on.
 */
public interface RemoteTracer {
    /** Follows nothing. */
    RemoteTracer NONE = new RemoteTracer() {};

    /**
     * Returns the span that the calling thread is in. Asked by threads that submit operations to devices of other nodes, once for each; what it
     * returns goes with the commands.
     *
     * @return the span; null for none, and for one of a trace that is not sampled
     */
    default @Nullable TraceParent current() {
        return null;
    }

    /**
     * This node begins a command of a peer that came with a span: everything that it waits for is reached. On a thread that completes work, without
     * locks.
     *
     * @param work the command
     * @return told once when the command has ended, before the peer is: the failure, or null
     */
    default Consumer<@Nullable IreeException> begin(RemoteWork work) {
        return _ -> {};
    }
}
