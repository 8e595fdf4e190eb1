package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Receives every call that bytecode makes or serves: exports called from outside, functions of the same module,
 * imports. For debugging: traced programs are interpreted and slow; untraced programs pay nothing.
 *
 * <p>Runs on the thread that runs the program, within the call. An implementation MUST NOT call the program, MUST NOT
 * throw, and MUST retain kept references: arguments and results are borrowed. Device buffers may not have been written
 * yet.
 *
 * <p>Values are {@link Integer}, {@link Long}, {@link Float}, {@link Double}, references (or null), and for a span of
 * arguments the list of tuples: a list of values, or a list of lists when a tuple has several values.
 */
@NotForApplications
public interface CallTracer {
    /**
     * Called when a call begins.
     *
     * @param depth the nesting depth, 1 for a call from outside
     * @param function {@code module.function}
     * @param arguments the arguments
     */
    void entered(int depth, String function, List<? extends @Nullable Object> arguments);

    /**
     * Called when a call has returned.
     *
     * @param depth as when the call began
     * @param function {@code module.function}
     * @param results the results
     */
    void returned(int depth, String function, List<? extends @Nullable Object> results);

    /**
     * Called when an import is deferred; everything below the import on the stack waits as well. The import is
     * {@linkplain #resumed resumed} later, perhaps on another thread.
     *
     * @param depth as when the call began
     * @param function {@code module.function}
     */
    void deferred(int depth, String function);

    /**
     * Called when a deferred import is resumed.
     *
     * @param depth as when the call began
     * @param function {@code module.function}
     */
    void resumed(int depth, String function);

    /**
     * Called when a call or a nested call has failed.
     *
     * @param depth as when the call began
     * @param function {@code module.function}
     * @param failure the failure
     */
    void failed(int depth, String function, IreeException failure);
}
