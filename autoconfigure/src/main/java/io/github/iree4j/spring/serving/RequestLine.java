package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.http.RetryLater;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which requests are computed, and which wait for that: in order of arrival, each for a limited time. A request that would wait longer is refused
 * when it comes, by the rate at which places have become free; where nothing is known of that, it waits until its time is over. So however many
 * come, those that are served have waited for a limited time, and the places are never empty. Thread-safe.
 */
final class RequestLine {

    private static final String PLACES = "iree.serving.max-concurrent-requests";
    private static final String PATIENCE = "iree.serving.max-wait";

    private static final Runnable TOLD = () -> {};

    /** The weight of all that was measured before against the last. */
    private static final int MEMORY = 32;

    /** Runs actions later. */
    @FunctionalInterface
    interface Alarm {
        /** The action does not block. */
        void in(long nanos, Runnable action);
    }

    /**
     * Why a request is refused when it comes.
     *
     * @param text for the client
     * @param later when to try again
     */
    record Refusal(String text, RetryLater later) {
        IreeException exception() {
            return new IreeException(StatusCode.RESOURCE_EXHAUSTED, text, null, later);
        }
    }

    private final int places;
    private final Duration patience;
    private final Runnable refused;
    private final LongSupplier clock;
    private final Alarm alarm;

    // Guarded by this: a thread that is preempted with the lock holds up all others, so it is taken to join and to
    // leave only.
    private final ArrayDeque<Turn> line = new ArrayDeque<>();
    // Written under the lock; read also without it, for an estimate.
    private volatile int free;
    private volatile int waiting;
    private volatile double held; // how long a place is held, in nanoseconds, an average; 0 while unknown
    private volatile long lastFreed; // when a place became free, or the last was taken
    // Guarded by this.
    private boolean alarmed;
    private long alarmAt; // while alarmed: no later than any deadline in line

    /**
     * Creates a line.
     *
     * @param places how many are computed at once
     * @param patience how long one waits at most; zero refuses all that would wait
     * @param refused run for each that is refused, outside the lock; must not block
     */
    RequestLine(int places, Duration patience, Runnable refused) {
        this(
                places,
                patience,
                refused,
                System::nanoTime,
                (nanos, action) -> CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS, Runnable::run)
                        .execute(action));
    }

    RequestLine(int places, Duration patience, Runnable refused, LongSupplier clock, Alarm alarm) {
        this.places = places;
        this.patience = patience;
        this.refused = refused;
        this.clock = clock;
        this.alarm = alarm;
        this.free = places;
    }

    /** The request of one client: waits, then has a place, until it leaves. */
    final class Turn {
        private final long since = clock.getAsLong();
        private final @Nullable Duration lateBy; // its own time, where that is shorter than patience
        private final CountDownLatch decided = new CountDownLatch(1);

        private final AtomicReference<@Nullable Runnable> listener = new AtomicReference<>(); // TOLD in the end
        // Written under the lock of the line, before it is decided; read also afterwards.
        private boolean given;
        private long placed; // when
        private @Nullable IreeException refusal;
        private volatile boolean over;

        Turn(@Nullable Duration timeout) {
            lateBy = timeout == null || timeout.compareTo(patience) > 0 ? null : timeout;
        }

        /** Whether it has a place, or has been refused: it need not wait. */
        boolean isDecided() {
            return decided.getCount() == 0;
        }

        /** Runs an action, which must not block or throw, when it need not wait any more; not if it leaves before. */
        void whenDecided(Runnable action) {
            if (isDecided() || !listener.compareAndSet(null, action)) {
                action.run();
            }
        }

        /**
         * Blocks until it need not wait, and checks that it has a place.
         *
         * @throws IreeException RESOURCE_EXHAUSTED when it has been refused, or DEADLINE_EXCEEDED if its own time is over; CANCELLED when it has
         *     left, or the thread is interrupted, which it stays
         */
        void requirePlace() {
            try {
                decided.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IreeException(StatusCode.CANCELLED, "interrupted in line", e);
            }
            if (refusal != null) {
                throw refusal;
            }
            if (over) {
                throw new IreeException(StatusCode.CANCELLED, "the client has gone");
            }
        }

        /** How long it waits at most. */
        Duration limit() {
            return lateBy == null ? patience : lateBy;
        }

        /** How long it has waited in line, once that is decided. */
        Duration waited() {
            return Duration.ofNanos((given ? placed : clock.getAsLong()) - since);
        }

        /** Gives up to wait for a place; false when that is decided. */
        boolean leaveLine() {
            synchronized (RequestLine.this) {
                return removed(this);
            }
        }

        /** Gives up the place, or to wait for one. Idempotent. */
        void leave() {
            Turn next;
            synchronized (RequestLine.this) {
                if (!given) {
                    removed(this);
                    return;
                }
                if (over) {
                    return;
                }
                over = true;
                next = free(clock.getAsLong() - placed);
            }
            if (next != null) {
                next.tell();
            }
        }

        private long deadline() {
            return since + limit().toNanos();
        }

        /** Its time is over, and it is not in line any more. Under the lock. */
        private void giveUp() {
            refusal = lateBy == null
                    ? full(expected(waiting))
                            .refusal("this one has waited for %d ms".formatted(waited().toMillis()))
                            .exception()
                    : new IreeException(
                            StatusCode.DEADLINE_EXCEEDED,
                            "the request has waited for %d us, its whole timeout, since %d others are computed"
                                    .formatted(TimeUnit.NANOSECONDS.toMicros(lateBy.toNanos()), places - free));
        }

        /** Outside the lock. */
        private void tell() {
            decided.countDown();
            Runnable told = listener.getAndSet(TOLD);
            if (told != null) {
                told.run();
            }
        }
    }

    /** Takes one out of the line; false if it is not in it. Under the lock. */
    private boolean removed(Turn turn) {
        boolean found = line.remove(turn);
        waiting = line.size();
        return found;
    }

    /** A place has become free that was held for so long: passes it on. Under the lock. */
    private synchronized @Nullable Turn free(long nanos) {
        held += (nanos - held) / (held == 0 ? 1 : MEMORY);
        lastFreed = clock.getAsLong();
        Turn next = line.pollFirst();
        waiting = line.size();
        if (next == null) {
            free++;
        } else {
            next.given = true;
            next.placed = lastFreed;
        }
        return next;
    }

    /**
     * How long one probably waits that so many are before, in nanoseconds: places become free as fast as requests leave them, on average, and less
     * fast where none has for long. 0 also where nothing is known.
     */
    private long expected(int ahead) {
        if (free > 0) {
            return 0;
        }
        double interval = held / places;
        double since = clock.getAsLong() - lastFreed;
        return (long) ((ahead + 1) * (interval + Math.max(0, since - interval) / MEMORY));
    }

    /**
     * Sets the alarm for a deadline. There is one for all who wait: one for each would wake the thread of the timer twice per request.
     * Under the lock.
     */
    private void alarmBy(long deadline) {
        if (!alarmed || deadline - alarmAt < 0) {
            alarmed = true;
            alarmAt = deadline;
            alarm.in(Math.max(0, deadline - clock.getAsLong()), () -> ring(deadline));
        }
    }

    /** Refuses those whose time is over. */
    private void ring(long deadline) {
        List<Turn> late = new ArrayList<>();
        synchronized (this) {
            if (!alarmed || deadline != alarmAt) {
                return; // a sooner one was set after it
            }
            alarmed = false;
            long now = clock.getAsLong();
            for (Turn each : List.copyOf(line)) {
                if (each.deadline() - now <= 0) {
                    removed(each);
                    each.giveUp();
                    late.add(each);
                } else {
                    alarmBy(each.deadline());
                }
            }
        }
        for (Turn each : late) {
            refused.run();
            each.tell();
        }
    }

    /**
     * Checks whether a request that comes now has a chance, before anything is done for it. Counts it if not.
     *
     * @return why it is refused: it would wait longer than it may; null if it has a chance
     */
    @Nullable
    Refusal refusal() {
        Full full = tooLong(patience); // an estimate, without the lock
        if (full == null) {
            return null;
        }
        refused.run();
        return full.refusal();
    }

    /**
     * Checks whether a request that comes now has a chance, before anything is done for it.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when it would wait longer than it may
     */
    void checkRoom() {
        Refusal refusal = refusal();
        if (refusal != null) {
            throw refusal.exception();
        }
    }

    /** Whether one that may wait for so long has to be refused; null if there is room. */
    private @Nullable Full tooLong(Duration limit) {
        long expected = expected(waiting);
        return free > 0 || !limit.isZero() && expected <= limit.toNanos() ? null : full(expected);
    }

    private Full full(long expected) {
        return new Full(places - free, waiting, expected);
    }

    /** The line when one is refused. Its text is made without the lock. */
    private final class Full {
        private final int computed; // have a place
        private final int waiting;
        private final long expected; // how long a further one would wait, in nanoseconds; 0 where that is not known

        Full(int computed, int waiting, long expected) {
            this.computed = computed;
            this.waiting = waiting;
            this.expected = expected;
        }

        Refusal refusal() {
            return refusal(
                    expected == 0 || patience.isZero()
                            ? "none may wait"
                            : "a further one would wait for about %d ms"
                                    .formatted(Duration.ofNanos(expected).toMillis()));
        }

        Refusal refusal(String why) {
            RetryLater later = new RetryLater(Duration.ofNanos(expected));
            return new Refusal(
                    "%d requests are computed and %d wait; %s, and the limit is %d ms; try again in %d s, or raise '%s' or '%s'"
                            .formatted(computed, waiting, why, patience.toMillis(), later.seconds(), PATIENCE, PLACES),
                    later);
        }
    }

    /**
     * Takes a place, or stands in line for one.
     *
     * @param timeout how long the request may take in all; null for no limit of its own
     * @return a turn that must be left
     * @throws IreeException RESOURCE_EXHAUSTED when it would wait longer than it may
     */
    Turn join(@Nullable Duration timeout) {
        Turn turn = new Turn(timeout);
        Full full;
        synchronized (this) {
            full = tooLong(turn.limit());
            if (full == null && free == 0) {
                line.addLast(turn);
                waiting = line.size();
                alarmBy(turn.deadline());
            } else if (full == null) {
                free--;
                lastFreed = free == 0 ? turn.since : lastFreed;
                turn.given = true;
                turn.placed = turn.since;
                turn.decided.countDown();
            }
        }
        if (full != null) {
            refused.run();
            throw full.refusal().exception();
        }
        return turn;
    }

    /** How many have a place. */
    int computed() {
        return places - free;
    }

    /** How many wait. */
    int waiting() {
        return waiting;
    }
}
