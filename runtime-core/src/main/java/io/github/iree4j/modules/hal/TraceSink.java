package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.BufferView;
import java.util.List;

/** Receives {@code hal.buffer_view.trace}, with which programs compiled with tensor tracing print values. */
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
