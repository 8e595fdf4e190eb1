package io.github.iree4j.spring.serving;

import io.github.iree4j.spring.RetryLater;
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
 * Decides when requests are computed: in order of arrival, after a limited wait. A request that would wait longer is
 * refused on arrival, judging by the rate at which places have become free; while the rate is unknown, the request
 * waits until its time limit. So under any load, served requests have waited for a limited time, and places are never
 * left empty. Thread-safe.
 *
 * <p>A long line absorbs a burst. A line that has not been empty for longer than the maximum wait absorbs nothing any
 * more: whatever the length, requests are served at the rate of the places. Then a quarter of the maximum wait is the
 * limit for further requests, so the line becomes short, and the estimate no longer has to be exact for a request to
 * be served in time. The distinction of bursts and standing queues is from Nichols and Jacobson, "Controlling Queue
 * Delay", ACM Queue 10(5), 2012.
 */
final class RequestLine {

    private static final String PLACES = "iree.serving.max-concurrent-requests";
    private static final String PATIENCE = "iree.serving.max-wait";

    private static final Runnable TOLD = () -> {};

    /** The part of the maximum wait that is the limit while the line stands. */
    private static final int STANDING = 4;

    /** The weight of all earlier measurements against the latest. */
    private static final int MEMORY = 32;

    /** The longest maximum wait: ten times as many nanoseconds are a number. */
    private static final Duration EVER = Duration.ofDays(10_000);

    /** Multiple of the maximum wait up to which requests that hang are expected to hang on. */
    private static final int LONGEST_HANG = 10;

    /** Runs actions later. */
    @FunctionalInterface
    interface Alarm {
        /** Runs an action after a delay. The action does not block. */
        void in(long nanos, Runnable action);
    }

    /**
     * The reason for refusing a request on arrival.
     *
     * @param text for the client
     * @param later when to try again
     */
    record Refusal(String text, RetryLater later) {
        IreeException exception() {
            return IreeException.of(StatusCode.RESOURCE_EXHAUSTED, text, null, later);
        }
    }

    private final int places;
    private final Duration patience;
    private final Runnable refused;
    private final LongSupplier clock;
    private final Alarm alarm;

    // Guarded by this. A thread preempted while holding the lock holds up all other threads, so the lock is taken only
    // to join and to leave.
    private final ArrayDeque<Turn> line = new ArrayDeque<>();
    // Written under the lock; read also without it, for an estimate.
    private volatile int free;
    private volatile int waiting;
    private volatile long stands; // while requests wait: since when the line has not been empty
    private volatile double held; // average time a place is held, in nanoseconds; 0 while unknown
    private volatile long lastFreed; // when a place last became free, or the last free place was taken
    // Guarded by this.
    private boolean alarmed;
    private long alarmAt; // while alarmed: no later than any deadline in line

    /**
     * Creates a line.
     *
     * @param places number of requests computed at once
     * @param patience maximum wait of a request; zero refuses all requests that would wait
     * @param refused run for each refused request, outside the lock; must not block
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
        this.patience = patience.compareTo(EVER) > 0 ? EVER : patience;
        this.refused = refused;
        this.clock = clock;
        this.alarm = alarm;
        this.free = places;
    }

    /** The turn of a client's request: waits, then has a place, until left. */
    final class Turn {
        private final long since = clock.getAsLong();
        private final @Nullable Duration lateBy; // time until the request's own deadline, if shorter than patience
        private final CountDownLatch decided = new CountDownLatch(1);

        private final AtomicReference<@Nullable Runnable> listener = new AtomicReference<>(); // TOLD in the end
        // Written under the lock of the line, before the turn is decided; read also afterwards.
        private boolean given;
        private long placed; // when the place was given
        private @Nullable IreeException refusal;
        private volatile boolean over;

        Turn(@Nullable Duration left) {
            lateBy = left == null || left.compareTo(patience) > 0 ? null : left;
        }

        /** Returns whether the turn has a place or has been refused: no further wait is needed. */
        boolean isDecided() {
            return decided.getCount() == 0;
        }

        /** Runs an action, which must not block or throw, once the turn is decided; not if the turn is left before. */
        void whenDecided(Runnable action) {
            if (isDecided() || !listener.compareAndSet(null, action)) {
                action.run();
            }
        }

        /**
         * Blocks until the turn is decided, and checks that the turn has a place.
         *
         * @throws IreeException RESOURCE_EXHAUSTED when the turn has been refused, or DEADLINE_EXCEEDED if the
         *     request's own deadline has passed; CANCELLED when the turn has been left, or the thread is
         *     interrupted; the thread stays interrupted
         */
        void requirePlace() {
            try {
                decided.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw IreeException.of(StatusCode.CANCELLED, "interrupted in line", e);
            }
            if (refusal != null) {
                throw refusal;
            }
            if (over) {
                throw IreeException.of(StatusCode.CANCELLED, "the client has gone");
            }
        }

        /** Returns the maximum wait. */
        Duration limit() {
            return lateBy == null ? patience : lateBy;
        }

        /** Returns the time spent in line, once decided. */
        Duration waited() {
            return Duration.ofNanos((given ? placed : clock.getAsLong()) - since);
        }

        /** Stops waiting for a place; false when already decided. */
        boolean leaveLine() {
            synchronized (RequestLine.this) {
                return removed(this);
            }
        }

        /** Gives up the place, or stops waiting for a place. Idempotent. */
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
                next.wake();
            }
        }

        private long deadline() {
            return since + limit().toNanos();
        }

        /** Refuses the turn after its time limit; the turn is no longer in line. Under the lock. */
        private void giveUp() {
            refusal = lateBy == null
                    ? full(expected(waiting), null)
                            .refusal("this one has waited for %d ms".formatted(waited().toMillis()), patience.toNanos())
                            .exception()
                    : IreeException.of(
                            StatusCode.DEADLINE_EXCEEDED,
                            "the request has waited for %d us, until its deadline, since %d others are computed"
                                    .formatted(TimeUnit.NANOSECONDS.toMicros(lateBy.toNanos()), places - free));
        }

        /** Notifies the waiting thread and the listener. Outside the lock. */
        private void wake() {
            decided.countDown();
            Runnable told = listener.getAndSet(TOLD);
            if (told != null) {
                told.run();
            }
        }
    }

    /** Removes a turn from the line; false if the turn is not in line. Under the lock. */
    private boolean removed(Turn turn) {
        boolean found = line.remove(turn);
        waiting = line.size();
        return found;
    }

    /** Passes a freed place on, after the place was held for the given time. Under the lock. */
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
     * Estimates the wait behind the given number of turns, in nanoseconds: on average, places become free at the rate
     * at which requests leave, and more slowly if no place has become free for long. If no place has become free for
     * longer than the maximum wait, the requests hang, and may hang as long again. Also 0 if the rate is unknown.
     */
    private long expected(int ahead) {
        if (free > 0) {
            return 0;
        }
        double interval = held / places;
        long since = clock.getAsLong() - lastFreed;
        long longest = patience.toNanos();
        long hang = since > longest ? Math.min(since, LONGEST_HANG * longest) : 0;
        return Math.max(hang, (long) ((ahead + 1) * (interval + Math.max(0, since - interval) / MEMORY)));
    }

    /**
     * Sets the alarm for a deadline. All waiting turns share one alarm: separate alarms would wake the timer's thread
     * twice per request. Under the lock.
     */
    private void alarmBy(long deadline) {
        if (!alarmed || deadline - alarmAt < 0) {
            alarmed = true;
            alarmAt = deadline;
            alarm.in(Math.max(0, deadline - clock.getAsLong()), () -> ring(deadline));
        }
    }

    /** Refuses turns past their deadline. */
    private void ring(long deadline) {
        List<Turn> late = new ArrayList<>();
        synchronized (this) {
            if (!alarmed || deadline != alarmAt) {
                return; // a sooner alarm was set afterwards
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
            each.wake();
        }
    }

    /**
     * Checks whether a request arriving now has a chance, before any work for the request. Counts a refusal.
     *
     * @return the refusal, when the request would wait longer than allowed; null if the request has a chance
     */
    @Nullable
    Refusal refusal() {
        Full full = tooLong(null); // an estimate, without the lock
        if (full == null) {
            return null;
        }
        refused.run();
        return full.refusal();
    }

    /**
     * Checks whether a request arriving now has a chance, before any work for the request.
     *
     * @throws IreeException RESOURCE_EXHAUSTED when the request would wait longer than allowed
     */
    void checkRoom() {
        Refusal refusal = refusal();
        if (refusal != null) {
            throw refusal.exception();
        }
    }

    /** Checks whether a turn has to be refused, perhaps for its own time limit; null if there is room. */
    private @Nullable Full tooLong(@Nullable Duration own) {
        if (free > 0) {
            return null;
        }
        long expected = expected(waiting);
        if (patience.isZero() || expected > longest()) {
            return full(expected, null);
        }
        return own != null && (own.isZero() || expected > own.toNanos()) ? full(expected, own) : null;
    }

    /** Returns the expected wait, in nanoseconds, up to which a request joins the line. */
    private long longest() {
        long longest = patience.toNanos();
        return waiting > 0 && clock.getAsLong() - stands > longest ? longest / STANDING : longest;
    }

    private Full full(long expected, @Nullable Duration own) {
        return new Full(places - free, waiting, expected, longest(), own);
    }

    /** The state of the line at a refusal. The text is made without the lock. */
    private final class Full {
        private final int computed; // number of turns with a place
        private final int waiting;
        private final long expected; // the wait of a further turn, in nanoseconds; 0 if unknown
        private final long longest; // the limit for the wait of a further turn, in nanoseconds
        private final @Nullable Duration own; // the limit of the refused request itself, where this limit is exceeded

        Full(int computed, int waiting, long expected, long longest, @Nullable Duration own) {
            this.computed = computed;
            this.waiting = waiting;
            this.expected = expected;
            this.longest = longest;
            this.own = own;
        }

        Refusal refusal() {
            if (own != null) {
                return refusal(
                        "a further one would wait for about %d us, longer than the %d us until its deadline"
                                .formatted(
                                        TimeUnit.NANOSECONDS.toMicros(expected),
                                        TimeUnit.NANOSECONDS.toMicros(own.toNanos())),
                        "with a longer timeout");
            }
            return refusal(
                    expected == 0 || patience.isZero()
                            ? "none may wait"
                            : "a further one would wait for about %d ms"
                                    .formatted(Duration.ofNanos(expected).toMillis()),
                    longest);
        }

        Refusal refusal(String why, long limit) {
            return refusal(
                    "%s, and the limit is %d ms".formatted(why, TimeUnit.NANOSECONDS.toMillis(limit)),
                    "raise '%s' or '%s'".formatted(PATIENCE, PLACES));
        }

        private Refusal refusal(String why, String remedy) {
            RetryLater later = new RetryLater(Duration.ofNanos(expected));
            return new Refusal(
                    "%d requests are computed and %d wait; %s; try again in %d s, or %s"
                            .formatted(computed, waiting, why, later.seconds(), remedy),
                    later);
        }
    }

    /**
     * Takes a place, or joins the line.
     *
     * @param left time until the deadline of the request; null for no such limit
     * @return a turn that must be left
     * @throws IreeException RESOURCE_EXHAUSTED when the request would wait longer than allowed
     */
    Turn join(@Nullable Duration left) {
        Turn turn = new Turn(left);
        Full full;
        synchronized (this) {
            full = tooLong(turn.lateBy);
            if (full == null && free == 0) {
                stands = line.isEmpty() ? turn.since : stands;
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

    /** Returns the number of turns with a place. */
    int computed() {
        return places - free;
    }

    /** Returns the number of waiting turns. */
    int waiting() {
        return waiting;
    }
}
