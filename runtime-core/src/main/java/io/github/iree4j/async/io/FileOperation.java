package io.github.iree4j.async.io;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A transfer between a file and memory, from its start until its completion has been called. */
@NotForApplications
public final class FileOperation {
    private static final Logger LOG = LoggerFactory.getLogger(FileOperation.class);

    final AsyncFile file;
    final boolean write;
    final long offset;
    final MemorySegment memory; // also keeps the memory reachable
    private final Completion completion;

    /** The backend's identification of the operation, set by the backend. */
    @Nullable
    Runnable task;

    long token;
    private volatile @Nullable IreeException stopCause;
    private long result; // written by the transferring thread before handing the operation to the owner
    private @Nullable IreeException failure;

    FileOperation(AsyncFile file, boolean write, long offset, MemorySegment memory, Completion completion) {
        this.file = file;
        this.write = write;
        this.offset = offset;
        this.memory = memory;
        this.completion = completion;
    }

    /**
     * Requests cancellation. The completion is still called once, with CANCELLED if the request was in time; until then
     * the memory is in use. From any thread; no effect after the operation has ended.
     */
    public void cancel() {
        cancel(IreeException.of(StatusCode.CANCELLED, describe() + " was cancelled"));
    }

    private void cancel(IreeException why) {
        stopBecause(why);
        file.cancel(this);
    }

    /** Sets the failure for an early end. The first cause wins. */
    void stopBecause(IreeException why) {
        synchronized (this) {
            if (stopCause == null) {
                stopCause = why;
            }
        }
    }

    /** Returns the cause for an early end, or null. */
    @Nullable
    IreeException stopCause() {
        return stopCause;
    }

    void succeeded(long bytes) {
        result = bytes;
    }

    /** Records an early end; without a stop cause, the kernel dropped the transfer when the submitting thread ended. */
    void cancelled() {
        IreeException why = stopCause;
        failure =
                why != null ? why : IreeException.of(StatusCode.CANCELLED, describe() + " was abandoned by the system");
    }

    void failed(StatusCode code, String why, @Nullable Throwable cause) {
        failure = IreeException.of(code, describe() + " failed: " + why, cause);
    }

    /** Reports the outcome, on the owner. */
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
