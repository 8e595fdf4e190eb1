package io.github.iree4j.hal.remote;

/**
 * Questions answered by the peer at once, in the order of QUEUE: an answer measures the time of a round trip, and shows
 * that the peer has read everything sent before. Safe from any thread.
 */
final class RoundTrips {
    /** The divisor for the weight of a new time in the average. */
    private static final int WEIGHT = 8;

    private final RemoteSession session;

    // Guarded by this.
    private long asked;
    private long answered;
    private long measured; // number of the timed question; 0 for none
    private long measuredAt;
    private long average; // nanoseconds; 0 before the first answer
    private boolean over;

    RoundTrips(RemoteSession session) {
        this.session = session;
    }

    /** Asks a question, unless an answer is still to come. */
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
     * Waits until the peer has read everything sent before.
     *
     * @param deadline by {@link System#nanoTime}
     * @return false when the deadline passes before; true also when the session has ended
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

    /** Ends all waits after the failure of the session. */
    synchronized void close() {
        over = true;
        notifyAll();
    }
}
