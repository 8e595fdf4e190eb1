package io.github.iree4j.hal.stream;

import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.DeviceQueue;
import io.github.iree4j.hal.record.RecordedCommandBuffer;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.function.Consumer;

/** The internals of a {@link StreamDevice}, for tests of drivers. */
public final class StreamDevices {
    /** Fill byte of freed memory. */
    public static final byte POISON = StreamBuffer.POISON;

    private StreamDevices() {}

    /** Its driver. */
    public static StreamDriver driver(StreamDevice device) {
        return device.driver();
    }

    /** Its encoder. */
    public static StreamEncoder encoder(StreamDevice device) {
        return device.encoder();
    }

    /** Its memory. */
    public static StreamMemory memory(StreamDevice device) {
        return device.memory();
    }

    /** Whether freed memory is overwritten. */
    public static boolean poisons(StreamDevice device) {
        return device.memory().poisons();
    }

    /** Number of imports of other devices' memory. */
    public static int importCount(StreamDevice device) {
        return device.imports().count();
    }

    /** Whether the deallocation of a buffer is issued, and not complete. */
    public static boolean isLeaving(Buffer buffer) {
        return ((StreamBuffer) buffer.allocatedBuffer()).leaving() != null;
    }

    /** Number of windows onto files in line for their turn on a queue. */
    public static int waitingWindows(DeviceQueue queue) {
        return ((StreamQueue) queue).windows().getQueueLength();
    }

    /** Waits until everything of a closed device is freed; returns whether this is so. */
    public static boolean awaitFreed(StreamDevice device, Duration limit) {
        return device.awaitFreed(limit);
    }

    /** Reports the device as lost. */
    public static void lose(StreamDevice device, IreeException cause) {
        device.lost(cause);
    }

    /** The lane family of a queue. */
    public static int family(DeviceQueue queue) {
        return ((StreamQueue) queue).lane().family();
    }

    /** A range of a nonexistent allocation. */
    public static StreamStorage storage(long generation, long handle, long offset, long length) {
        return new StreamStorage(null, generation, handle, offset, length, 0, null);
    }

    /** Lends a form of a command buffer, as an execution does. */
    public static void withForm(RecordedCommandBuffer commands, DeviceQueue queue, Consumer<CommandForm> use) {
        BoundForm lent = RecordedForms.of(commands).whole().lend(((StreamQueue) queue).lane());
        try {
            use.accept(lent.form());
        } finally {
            RecordedForms.of(commands).whole().giveBack(lent);
        }
    }
}
