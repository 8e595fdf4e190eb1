package io.github.iree4j.hal.remote;

/**
 * Questions that the peer answers at once, in the order of QUEUE: how long a round trip takes, and that the peer has read all that was sent
 * before. Safe from any thread.
 */
final class RoundTrips {
    /** What a new time counts in the average: one in so many. */
    private static final int WEIGHT = 8;

    private final RemoteSession session;

    // Guarded by this.
    private long asked;
    private long answered;
    private long measured; // the question that is timed; 0 for none
    private long measuredAt;
    private long average; // nanoseconds; 0 before the first answer
    private boolean over;

    RoundTrips(RemoteSession session) {
        this.session = session;
    }

    /** Asks, unless an answer is still to come. */
    void measure() {
        synchronized (this) {
            if (asked > answered) {
                return;
            }
        }
        ask();
    }

    private long ask() {
        long number;
        synchronized (this) {
            number = ++asked;
            if (measured == 0) {
                measured = number;
                measuredAt = System.nanoTime();
            }
        }
        session.post(new FrameWriter(FrameType.PING).u64(number));
        return number;
    }

    /**
     * Waits until the peer has read all that was sent before.
     *
     * @param deadline by {@link System#nanoTime}
     * @return false when it has not by then; true also when the session has ended
     */
    boolean await(long deadline) throws InterruptedException {
        long number = ask();
        synchronized (this) {
            while (answered < number && !over) {
                long left = deadline - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                wait(left / 1_000_000 + 1);
            }
        }
        return true;
    }

    void ping(FrameReader in) {
        long number = in.u64("number");
        in.end();
        session.post(new FrameWriter(FrameType.PONG).u64(number));
    }

    void pong(FrameReader in) {
        long number = in.u64("number");
        in.end();
        long now = System.nanoTime();
        synchronized (this) {
            if (number <= answered || number > asked) {
                throw in.corrupt("answer to %d, after %d of %d".formatted(number, answered, asked));
            }
            answered = number;
            if (measured != 0 && measured <= number) {
                long time = Math.max(1, now - measuredAt);
                average = average == 0 ? time : average + (time - average) / WEIGHT;
                measured = 0;
            }
            notifyAll();
        }
    }

    synchronized long averageNanos() {
        return average;
    }

    /** The session has failed. */
    synchronized void close() {
        over = true;
        notifyAll();
    }
}
