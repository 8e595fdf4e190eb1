package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.async.Cancellation;
import io.github.iree4j.nativeaccess.EventDescriptor;
import io.github.iree4j.nativeaccess.NativeLibrary;
import io.github.iree4j.nativeaccess.SystemCapability;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asynchronous operations of the operating system, completed by a {@link Proactor}: file transfers and readiness of
 * descriptors.
 *
 * <p>Operations may be started from any thread; their completions run on the proactor's owner. Files are transferred by
 * the kernel (io_uring) where permitted, unless the system property {@value #URING} is {@code false}; otherwise by a
 * thread pool, which does not need the native library. All other operations need this library.
 */
@NotForApplications
public final class SystemIo implements AutoCloseable {
    /** System property: whether to use the kernel's io_uring where permitted; {@code true} by default. */
    public static final String URING = "iree4j.io-uring";

    /** How long the process-wide thread outlives its last operation. A guess. */
    private static final Duration IDLE = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(SystemIo.class);
    private static @Nullable SystemIo shared; // guarded by the class

    private final FileBackend files;
    private final @Nullable SystemSource source;
    private final Proactor proactor;

    /** The file backend to use. */
    enum Files {
        /** The best available. */
        BEST,
        /** io_uring; fails where unavailable. */
        RING,
        /** The thread pool. */
        POOL
    }

    /** Makes the proactor of a source. */
    @FunctionalInterface
    private interface Loop {
        Proactor on(CompletionSource source);
    }

    private SystemIo(Files wanted, ToIntFunction<EventDescriptor> outcome, Loop loop) {
        files = backend(wanted);
        CompletionSource slept;
        if (SystemCapability.EVENTS.isPresent()) {
            source = new SystemSource(files, outcome);
            slept = source;
        } else {
            source = null;
            slept = new ParkingSource(files);
        }
        proactor = loop.on(slept);
    }

    private FileBackend backend(Files wanted) {
        if (wanted == Files.POOL || wanted == Files.BEST && "false".equals(System.getProperty(URING))) {
            return pool("io_uring is switched off");
        }
        try {
            return new RingFileBackend();
        } catch (IreeException e) {
            if (wanted == Files.RING) {
                throw e;
            }
            LOG.info("files are read and written by threads: {}", e.getMessage());
            return pool(String.valueOf(e.getMessage()));
        }
    }

    private FileBackend pool(String reason) {
        return new PoolFileBackend(reason, () -> proactor().wake());
    }

    /**
     * Returns the process-wide instance, on a daemon thread that ends when idle. A lost instance is replaced.
     *
     * @return the shared instance; never close it
     */
    public static synchronized SystemIo ofProcess() {
        SystemIo current = shared;
        if (current == null || current.proactor.failure() != null) {
            current = new SystemIo(
                    Files.BEST, EventDescriptor::outcome, source -> Proactor.start("iree4j-events", source, IDLE));
            shared = current;
        }
        return current;
    }

    /**
     * Creates an instance with a proactor driven by the caller.
     *
     * @param name the name in messages
     * @param nanoClock the time in nanoseconds, from any origin
     * @return the instance; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors
     */
    public static SystemIo create(String name, LongSupplier nanoClock) {
        return create(name, nanoClock, Files.BEST, EventDescriptor::outcome);
    }

    static SystemIo create(String name, LongSupplier nanoClock, Files files, ToIntFunction<EventDescriptor> outcome) {
        return new SystemIo(files, outcome, source -> Proactor.create(name, source, nanoClock));
    }

    /**
     * Creates an instance with a dedicated daemon thread.
     *
     * @param name the name in messages, and of the thread
     * @return the instance; the caller closes it
     * @throws IreeException RESOURCE_EXHAUSTED without descriptors
     */
    public static SystemIo start(String name) {
        return start(name, Files.BEST);
    }

    static SystemIo start(String name, Files files) {
        return new SystemIo(files, EventDescriptor::outcome, source -> Proactor.start(name, source));
    }

    /**
     * Returns the loop running the completions.
     *
     * @return the proactor; closing the proactor closes this instance
     */
    public Proactor proactor() {
        return proactor;
    }

    /**
     * Returns a description of the file backend.
     *
     * @return for example {@code io_uring}, or {@code thread pool} with the reason for the fallback
     */
    public String fileTransfers() {
        return files.describe();
    }

    /**
     * Opens a file for transfers at any offset. Blocks while the system opens the file.
     *
     * @param path the path of an existing file
     * @param read whether reads are allowed
     * @param write whether writes are allowed
     * @return the file; the caller closes it
     * @throws IreeException NOT_FOUND; PERMISSION_DENIED; INVALID_ARGUMENT for anything but a regular file;
     *     RESOURCE_EXHAUSTED without descriptors
     */
    public AsyncFile open(Path path, boolean read, boolean write) {
        try {
            return new AsyncFile(this, files.open(path, read, write), path, read, write);
        } catch (IreeException e) {
            throw IreeException.of(e.code(), "file '%s' cannot be opened: %s".formatted(path, e.getMessage()), e);
        }
    }

    FileBackend files() {
        return files;
    }

    /**
     * Waits for an event. From any thread.
     *
     * @param event the event; retained until the wait has ended
     * @param onReadable called with 0 when the event is readable; with UNAVAILABLE when the event can no longer become
     *     readable because its other end was closed; with ABORTED for a sync_fd with failed work, CANCELLED for a
     *     sync_fd with cancelled work
     * @return cancels the wait: if the cancellation succeeds, the completion is never called
     * @throws IreeException INVALID_ARGUMENT when the kind of event cannot be waited for; FAILED_PRECONDITION when the
     *     event is closed; UNIMPLEMENTED on Windows and macOS; UNAVAILABLE without the native library; the proactor's failure when the proactor has ended
     */
    public Cancellation watch(SystemEvent event, Completion onReadable) {
        Cancellation watch = source().watches().add(event, onReadable);
        proactor.wake();
        return watch;
    }

    private SystemSource source() {
        if (source == null) {
            NativeLibrary.ensureAvailable();
            throw IreeException.of(
                    StatusCode.UNIMPLEMENTED, "this operating system has no events to wait for; wait for timelines");
        }
        return source;
    }

    /** Closes the proactor, see {@link Proactor#close()}. */
    @Override
    public void close() {
        proactor.close();
    }
}
