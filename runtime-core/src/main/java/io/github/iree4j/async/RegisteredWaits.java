package io.github.iree4j.async;

import org.jspecify.annotations.Nullable;

/** The registrations of a wait for several things, cancelled together. Safe from any thread. */
final class RegisteredWaits {
    private final @Nullable Cancellation[] waits; // guarded by itself

    RegisteredWaits(int count) {
        waits = new @Nullable Cancellation[count];
    }

    /** Adds a registration. The caller checks afterwards whether the wait has ended, and then cancels the registration itself. */
    void add(int index, Cancellation wait) {
        synchronized (waits) {
            waits[index] = wait;
        }
    }

    /** Cancels all registrations; makes no foreign calls with the lock held. */
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
