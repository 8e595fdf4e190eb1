package io.github.iree4j.modules.hal;

import io.github.iree4j.hal.BufferView;
import java.util.List;

/** Where {@code hal.buffer_view.trace} goes: programs compiled with tracing of tensors print values through it. */
@FunctionalInterface
public interface TraceSink {
    /**
     * Takes one trace.
     *
     * @param key what the program calls it
     * @param views the values, borrowed for the call
     */
    void trace(String key, List<BufferView> views);
}
