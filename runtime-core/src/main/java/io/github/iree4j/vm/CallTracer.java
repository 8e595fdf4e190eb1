package io.github.iree4j.vm;

import io.github.iree4j.status.IreeException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hears of every call that bytecode makes or serves: exports called from outside, functions of the same module, imports. For people who
 * look for a fault; programs that are traced are interpreted and slow, those that are not pay nothing.
 *
 * <p>Runs on the thread that runs the program, within the call. An implementation MUST NOT call the program, MUST NOT throw, and MUST
 * retain references it keeps: arguments and results are borrowed. Contents of device buffers may not be there yet.
 *
 * <p>Values are {@link Integer}, {@link Long}, {@link Float}, {@link Double}, references (or null), and for a span of arguments the list of
 * its tuples: of values, or of lists when a tuple has several.
 */
public interface CallTracer {
    /**
     * A call begins.
     *
     * @param depth how deep it is nested, 1 for a call from outside
     * @param function {@code module.function}
     * @param arguments its arguments
     */
    void entered(int depth, String function, List<? extends @Nullable Object> arguments);

    /**
     * A call has returned.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     * @param results its results
     */
    void returned(int depth, String function, List<? extends @Nullable Object> results);

    /**
     * An import waits for something; everything below it on the stack waits with it. It {@linkplain #resumed goes on} later, perhaps on
     * another thread.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     */
    void deferred(int depth, String function);

    /**
     * An import that waited goes on.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     */
    void resumed(int depth, String function);

    /**
     * A call has failed, or what it called.
     *
     * @param depth as when it began
     * @param function {@code module.function}
     * @param failure why
     */
    void failed(int depth, String function, IreeException failure);
}
