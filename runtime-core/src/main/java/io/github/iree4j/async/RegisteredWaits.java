package io.github.iree4j.async;

import org.jspecify.annotations.Nullable;

/** What a wait for several things has registered, to be taken back together. Safe from any thread. */
final class RegisteredWaits {
    private final @Nullable Cancellation[] waits; // guarded by itself

    RegisteredWaits(int count) {
        waits = new @Nullable Cancellation[count];
    }

    /** Notes one. Whoever adds looks afterwards whether all is over, and takes it back itself then. */
    void add(int index, Cancellation wait) {
        synchronized (waits) {
            waits[index] = wait;
        }
    }

    /** Takes back all that were added; calls nobody with the lock held. */
    void cancel() {
        @Nullable Cancellation[] registered;
        synchronized (waits) {
            registered = waits.clone();
        }
        for (Cancellation wait : registered) {
            if (wait != null) {
                wait.cancel();
            }
        }
    }
}
