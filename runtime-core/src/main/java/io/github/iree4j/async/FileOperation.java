package io.github.iree4j.async;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One transfer between a file and memory, from its start until its completion has been called. */
public final class FileOperation {
    private static final Logger LOG = LoggerFactory.getLogger(FileOperation.class);

    final AsyncFile file;
    final boolean write;
    final long offset;
    final MemorySegment memory; // also keeps it from the garbage collector
    private final Completion completion;

    /** Of the backend: what it knows the operation by. */
    @Nullable
    Runnable task;

    long token;
    private volatile @Nullable IreeException stopCause;
    private long result; // by the thread that made the transfer, before it handed this to the owner
    private @Nullable IreeException failure;

    FileOperation(AsyncFile file, boolean write, long offset, MemorySegment memory, Completion completion) {
        this.file = file;
        this.write = write;
        this.offset = offset;
        this.memory = memory;
        this.completion = completion;
    }

    /**
     * Asks for its end. Its completion is called all the same, once, with CANCELLED if this came in time; until then the memory is in
     * use. From any thread; harmless when it is over.
     */
    public void cancel() {
        cancel(new IreeException(StatusCode.CANCELLED, describe() + " was cancelled"));
    }

    private void cancel(IreeException why) {
        stopBecause(why);
        file.cancel(this);
    }

    /** What it fails with if it ends early. The first cause stays. */
    void stopBecause(IreeException why) {
        synchronized (this) {
            if (stopCause == null) {
                stopCause = why;
            }
        }
    }

    /** Why it is to end early, or null. */
    @Nullable
    IreeException stopCause() {
        return stopCause;
    }

    void succeeded(long bytes) {
        result = bytes;
    }

    /** It ended early; by nobody's wish when the kernel gave it up with the thread that had submitted it. */
    void cancelled() {
        IreeException why = stopCause;
        failure =
                why != null ? why : new IreeException(StatusCode.CANCELLED, describe() + " was given up by the system");
    }

    void failed(StatusCode code, String why, @Nullable Throwable cause) {
        failure = new IreeException(code, describe() + " failed: " + why, cause);
    }

    /** On the owner: tells how it ended. */
    void end() {
        try {
            completion.ended(failure == null ? result : 0, failure);
        } catch (Throwable t) {
            LOG.error("the completion of {} threw", describe(), t);
        } finally {
            file.release();
        }
    }

    String describe() {
        return "%s of %d bytes at offset %d of %s"
                .formatted(write ? "write" : "read", memory.byteSize(), offset, file.describe());
    }

    @Override
    public String toString() {
        return describe();
    }
}
