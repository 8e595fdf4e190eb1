package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for clients that have gone, while threads wait that serve their requests. All watches share a timer, which is
 * idle without watches. Thread-safe.
 */
@NotForApplications
public final class ClientWatches {
    private static final Logger log = LoggerFactory.getLogger(ClientWatches.class);

    private final Set<Watch> watches = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean armed = new AtomicBoolean();
    private final Executor later;

    /**
     * Creates an empty set.
     *
     * @param interval time between two looks at a client
     */
    public ClientWatches(Duration interval) {
        this(CompletableFuture.delayedExecutor(interval.toNanos(), TimeUnit.NANOSECONDS));
    }

    /** Creates an empty set that looks at clients when {@code later} runs a submitted task. */
    ClientWatches(Executor later) {
        this.later = later;
    }

    /**
     * Begins to look for the end of a client.
     *
     * @param gone whether the client has gone; asked by one thread at a time, and not after {@link Watch#end}
     * @param ending runs once, when the client has gone; must not block
     * @return the watch, to be ended by the caller
     */
    public Watch begin(BooleanSupplier gone, Runnable ending) {
        Watch watch = new Watch(gone, ending);
        watches.add(watch);
        arm();
        return watch;
    }

    private void arm() {
        if (armed.compareAndSet(false, true)) {
            later.execute(this::look);
        }
    }

    private void look() {
        for (Watch each : watches) {
            try {
                each.look();
            } catch (RuntimeException e) { // of the container: the other clients are looked at, now and later
                log.debug("it is not known whether a client has gone", e);
            }
        }
        armed.set(false); // before the check: a watch beginning meanwhile arms the timer itself
        if (!watches.isEmpty()) {
            arm();
        }
    }

    /** A client while a thread waits. During a look, the monitor keeps the thread from going on. */
    public final class Watch {
        private final BooleanSupplier gone;
        private Runnable ending;
        private boolean over;
        private volatile boolean hasEnded;

        private Watch(BooleanSupplier gone, Runnable ending) {
            this.gone = gone;
            this.ending = ending;
        }

        private synchronized void look() {
            if (!over && !hasEnded && gone.getAsBoolean()) {
                hasEnded = true;
                ending.run();
            }
        }

        /** Sets the action of the end from now on; runs the action if the client was found gone before. */
        void instead(Runnable other) {
            synchronized (this) {
                ending = other;
            }
            if (hasEnded) {
                other.run();
            }
        }

        /**
         * Ends the looks. Idempotent.
         *
         * @return whether the client was found gone
         */
        public synchronized boolean end() {
            over = true;
            watches.remove(this);
            return hasEnded;
        }
    }
}
