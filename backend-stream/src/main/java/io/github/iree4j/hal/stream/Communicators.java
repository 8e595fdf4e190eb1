package io.github.iree4j.hal.stream;

import io.github.iree4j.async.CallThreads;
import io.github.iree4j.status.IreeException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The participants in groups of a library, and a thread watching the participants while there are any. */
final class Communicators {
    private static final long SOON_NANOS = 500_000; // while a participant joins or leaves
    private static final long PAUSE_NANOS = 10_000_000; // between polls of joined participants

    private final String name;
    private final List<Communicator> all = new CopyOnWriteArrayList<>();
    private @Nullable Thread thread; // guarded by this

    Communicators(String name) {
        this.name = name;
    }

    /**
     * Begins to join a group.
     *
     * @param library the library of all participants
     * @param id returns the id; called once, by the thread
     * @param state called with null once the participant has joined, and then, or instead, at most once with the cause
     *     of a failure; by other threads, with no lock held
     * @return the participant, closed by the caller
     */
    Communicator join(
            StreamCollectives library,
            StreamDriver device,
            Supplier<String> id,
            int rank,
            int count,
            Consumer<@Nullable IreeException> state) {
        Communicator member = new Communicator(this, library, device, id, rank, count, state);
        synchronized (this) {
            all.add(member);
            if (thread == null) {
                thread = CallThreads.forNativeWaits("iree4j-collectives " + name, this::run);
                thread.start();
            }
        }
        wake();
        return member;
    }

    /** Makes the thread poll. */
    synchronized void wake() {
        LockSupport.unpark(thread);
    }

    private void run() {
        for (; ; ) {
            boolean busy = false;
            for (Communicator each : all) {
                if (each.step()) {
                    all.remove(each);
                }
                busy |= each.isBusy();
            }
            synchronized (this) {
                if (all.isEmpty()) {
                    thread = null;
                    return;
                }
            }
            LockSupport.parkNanos(this, busy ? SOON_NANOS : PAUSE_NANOS);
        }
    }

    /** Ends the participants of a device after the end of the device's work. */
    void end(StreamDriver device) {
        for (Communicator each : all) {
            if (each.device().equals(device)) {
                each.abort();
                each.close();
            }
        }
        while (all.stream().anyMatch(each -> each.device().equals(device))) {
            LockSupport.parkNanos(this, SOON_NANOS);
        }
    }
}
