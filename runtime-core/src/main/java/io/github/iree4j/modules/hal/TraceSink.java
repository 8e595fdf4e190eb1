package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.BufferView;
import java.util.List;

/** Receives {@code hal.buffer_view.trace}, used by programs compiled with tensor tracing to print values. */
@FunctionalInterface
public interface TraceSink {
    /**
     * Called for each trace.
     *
     * @param key the label in the program
     * @param views the values, borrowed for the call
     */
    void trace(String key, List<BufferView> views);
}
