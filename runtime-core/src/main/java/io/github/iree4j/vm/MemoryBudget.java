package io.github.iree4j.vm;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.atomic.AtomicLong;

/** Counts the memory allocated by a program in a context against {@link ContextOptions#maxMemory()}. Safe from any thread. */
@NotForApplications
public final class MemoryBudget {
    /** Bytes charged for each object in addition to the contents, since many small objects take memory as well. */
    static final int OBJECT = 128;

    private final long limit;
    private final AtomicLong used = new AtomicLong();

    /**
     * Creates an empty budget.
     *
     * @param limit most bytes
     */
    public MemoryBudget(long limit) {
        this.limit = limit;
    }

    /**
     * Reserves bytes before they are allocated.
     *
     * @param bytes the number of bytes, not negative
     * @throws IreeException RESOURCE_EXHAUSTED when the limit would be exceeded; nothing is reserved then
     */
    public void reserve(long bytes) {
        for (long u = used.get(); ; u = used.get()) {
            if (bytes > limit - u) {
                throw IreeException.of(
                        StatusCode.RESOURCE_EXHAUSTED,
                        "%d bytes on top of %d held exceed the %d that programs of this context may hold"
                                .formatted(bytes, u, limit));
            }
            if (used.compareAndSet(u, u + bytes)) {
                return;
            }
        }
    }

    /**
     * Releases bytes.
     *
     * @param bytes the number of bytes, as reserved
     */
    public void release(long bytes) {
        used.addAndGet(-bytes);
    }

    /**
     * Returns the bytes held now.
     *
     * @return bytes
     */
    public long used() {
        return used.get();
    }
}
