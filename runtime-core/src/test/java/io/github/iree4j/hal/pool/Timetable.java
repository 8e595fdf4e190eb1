package io.github.iree4j.hal.pool;

import io.github.iree4j.async.FrontierTracker;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** Virtual time for a set of pools: planned events happen in order, and some are work under way. */
final class Timetable {
    static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);

    /** An event at a time; of two at the same time the first planned. */
    private record Event(long at, long number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return at == other.at ? Long.compare(number, other.number) : Long.compare(at, other.at);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private long now;
    private long planned;
    private int underWay;

    /** A builder of pools in this time. */
    PoolSetBuilder builder(FrontierTracker tracker) {
        return PoolSet.builder(new FakeSlabs(), tracker)
                .clock(() -> now)
                .delayed(nanos -> action -> plan(nanos, action))
                .busy(() -> underWay > 0);
    }

    long now() {
        return now;
    }

    void plan(long nanos, Runnable action) {
        events.add(new Event(now + nanos, planned++, action));
    }

    /** Plans the end of work under way until then. */
    void work(PoolSet set, long nanos, Runnable end) {
        underWay++;
        plan(nanos, () -> {
            end.run();
            if (--underWay == 0) {
                set.idle();
            }
        });
    }

    void run(long nanos) {
        for (long end = now + nanos; !events.isEmpty() && events.peek().at <= end; ) {
            Event next = events.remove();
            now = next.at;
            next.action.run();
        }
    }
}
