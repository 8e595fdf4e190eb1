package io.github.iree4j.vm;

import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives every call that bytecode makes or serves: exports called from outside, functions of the same module, imports. For debugging:
 * traced programs are interpreted and slow; untraced programs pay nothing.
 *
 * <p>Runs on the thread that runs the program, within the call. An implementation MUST NOT call the program, MUST NOT throw, and MUST
 * retain references it keeps: arguments and results are borrowed. Device buffers may not have been written yet.
 *
 * <p>Values are {@link Integer}, {@link Long}, {@link Float}, {@link Double}, references (or null), and for a span of arguments the list of
 * its tuples: of values, or of lists when a tuple has several.
 */
public interface CallTracer {
    /**
     * Called when a call begins.
     *
     * @param depth its nesting depth, 1 for a call from outside
     * @param function {@code module.function}
     * @param arguments its arguments
     */
    void entered(int depth, String function, List<? extends @Nullable Object> arguments);

    /**
     * Called when a call has returned.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     * @param results its results
     */
    void returned(int depth, String function, List<? extends @Nullable Object> results);

    /**
     * Called when an import is deferred; everything below it on the stack waits with it. It is {@linkplain #resumed resumed} later, perhaps
     * on another thread.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     */
    void deferred(int depth, String function);

    /**
     * Called when a deferred import is resumed.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     */
    void resumed(int depth, String function);

    /**
     * Called when a call, or one that it made, has failed.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     * @param failure the failure
     */
    void failed(int depth, String function, IreeException failure);
}
