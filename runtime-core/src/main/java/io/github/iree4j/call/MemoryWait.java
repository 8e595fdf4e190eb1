package io.github.iree4j.call;

import io.github.iree4j.monitor.PendingCall;
import java.util.function.Supplier;

/**
 * What a call outside waits for, at one moment.
 *
 * @param text makes a description, without the word "for"
 * @param bytes bytes of the awaited memory: the inputs, or the expected need; 0 for none, and when unknown
 * @param state FOR_MEMORY; FOR_ADMISSION for a call held back since its need is unknown, not for lack of memory; IN_LINE
 *     for an admitted call, and for one about to join a line
 */
record MemoryWait(Supplier<String> text, long bytes, PendingCall.State state) {
    /** No wait for memory. */
    static final MemoryWait NONE = new MemoryWait(() -> "its turn", 0, PendingCall.State.IN_LINE);

    static final String EARLIER_CALLS = "memory of earlier calls";

    /**
     * A wait for earlier calls of the program.
     *
     * @param isOver whether these calls are made by now
     */
    static MemoryWait forEarlierCalls(boolean isOver) {
        return new MemoryWait(() -> EARLIER_CALLS, 0, state(isOver));
    }

    /**
     * A wait for memory of inputs.
     *
     * @param isOver whether the memory is granted by now
     */
    static MemoryWait ofInputs(long bytes, boolean isOver) {
        return new MemoryWait(() -> bytes + " bytes of memory", isOver ? 0 : bytes, state(isOver));
    }

    private static PendingCall.State state(boolean isOver) {
        return isOver ? PendingCall.State.IN_LINE : PendingCall.State.FOR_MEMORY;
    }
}
