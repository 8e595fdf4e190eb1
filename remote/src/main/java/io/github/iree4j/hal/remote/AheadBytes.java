package io.github.iree4j.hal.remote;

import java.util.concurrent.atomic.AtomicLong;

/** Memory for bytes that arrive before their place may be written: limited for each client. Safe from any thread. */
final class AheadBytes {
    static final long LIMIT = 16L << 20;

    private final AtomicLong used = new AtomicLong();

    /** Returns whether the bytes are within the limit; if so, the caller gives the bytes back once. */
    boolean tryTake(long bytes) {
        if (used.addAndGet(bytes) <= LIMIT) {
            return true;
        }
        used.addAndGet(-bytes);
        return false;
    }

    long used() {
        return used.get();
    }

    void giveBack(long bytes) {
        used.addAndGet(-bytes);
    }
}
