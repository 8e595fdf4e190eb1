package io.github.iree4j.async;

import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.status.IreeException;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the operating system does for a {@link Proactor}: reports descriptors that become readable.
 *
 * <p>Operations may be started from any thread; their completions run on the proactor's owner. Needs the native library, without which
 * the proactor has timers and messages only and what is here fails with UNAVAILABLE.
 */
public final class SystemIo implements AutoCloseable {
    /** How long the thread of the process outlives the last thing it waits for. A guess. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private static @Nullable SystemIo shared; // guarded by the class

    private final @Nullable SystemSource source;
    private final Proactor proactor;

    private SystemIo(@Nullable SystemSource source, Proactor proactor) {
        this.source = source;
        this.proactor = proactor;
    }

    /**
     * What all timelines of this process share, on a daemon thread that ends when idle. One that was lost is replaced.
     *
     * @return the shared one; never close it
     */
    public static synchronized SystemIo ofProcess() {
        SystemIo current = shared;
        if (current == null || current.proactor.failure() != null) {
            SystemSource source = NativeLibrary.unavailabilityCause() == null ? new SystemSource() : null;
            current = new SystemIo(
                    source, Proactor.start("iree4j-events", source == null ? new ParkingSource() : source, IDLE));
            shared = current;
        }
        return current;
    }

    /**
     * Creates one whose proactor is driven by the caller.
     *
     * @param name what to call it in messages
     * @param nanoClock the time in nanoseconds, from any origin
     * @return what the caller closes
     * @throws IreeException UNAVAILABLE without the native library, RESOURCE_EXHAUSTED without descriptors
     */
    public static SystemIo create(String name, LongSupplier nanoClock) {
        SystemSource source = new SystemSource();
        return new SystemIo(source, Proactor.create(name, source, nanoClock));
    }

    /**
     * Returns the loop on which completions run.
     *
     * @return the proactor; closing it is closing this
     */
    public Proactor proactor() {
        return proactor;
    }

    /**
     * Waits for an event. From any thread.
     *
     * @param event the event; retained until it is over
     * @param onReadable called with 0 when it is readable; with UNAVAILABLE when it can no longer become so, which is when its other
     *     end was closed
     * @return takes the wait back: if that succeeds the completion is never called
     * @throws IreeException INVALID_ARGUMENT when the event is of a kind that cannot be waited for; FAILED_PRECONDITION when it is
     *     closed; UNAVAILABLE without the native library; the reason when the proactor has ended
     */
    public Cancellation watch(SystemEvent event, Completion onReadable) {
        Cancellation watch = source().watch(event, onReadable);
        proactor.wake();
        return watch;
    }

    private SystemSource source() {
        if (source == null) {
            NativeLibrary.ensureAvailable();
            throw new IllegalStateException("the native library came late");
        }
        return source;
    }

    /** Closes the proactor, see {@link Proactor#close()}. */
    @Override
    public void close() {
        proactor.close();
    }
}
