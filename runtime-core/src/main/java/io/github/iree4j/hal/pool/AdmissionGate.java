package io.github.iree4j.hal.pool;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Keeps calls outside while what they are going to need does not fit beside what others inside may need and what the host keeps. Those outside
 * hold nothing, and go in in the order in which they came. A call that does not fit although it
 * is alone goes in after a while: it may need less. Safe from any thread.
 */
public final class AdmissionGate {
    private final long limit;
    private final long patience;
    private final long hostPatience;
    private final AtomicLong committed = new AtomicLong(); // to calls inside
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Condition> line = new ArrayDeque<>(); // guarded by lock
    private volatile int waiting; // its size

    /** What the host and programs keep. Written under the lock of the set, as is the next. */
    private final AtomicLong kept = new AtomicLong();

    private volatile long permanent; // of that, by programs that are loaded

    AdmissionGate(long limit, long patience, long hostPatience) {
        this.limit = limit;
        this.patience = patience;
        this.hostPatience = hostPatience;
    }

    /**
     * Goes in, once that fits. Takes no lock when it does at once. Blocks; what does not fit in time goes in as well, and gets memory as it
     * can.
     *
     * @param need how many bytes the call will hold at most
     * @param givenUp whether the call need not wait, since it is not going to run; looked at after each {@link #look}
     * @throws InterruptedException when the thread is interrupted before the call is inside
     */
    public void enter(long need, BooleanSupplier givenUp) throws InterruptedException {
        long part = Math.min(need, limit);
        if (waiting == 0 && tryCommit(part)) {
            return;
        }
        lock.lockInterruptibly();
        try {
            Condition place = lock.newCondition();
            line.add(place);
            waiting = line.size(); // and then looks at what is committed
            try {
                waitInLine(place, part, givenUp);
            } finally {
                line.remove(place);
                waiting = line.size();
                tellFirst();
            }
        } finally {
            lock.unlock();
        }
    }

    private void waitInLine(Condition place, long part, BooleanSupplier givenUp) throws InterruptedException {
        long start = System.nanoTime();
        while (!place.equals(line.peekFirst()) || !tryCommit(part)) {
            long waited = System.nanoTime() - start;
            // Nothing inside gives anything back: only the host may.
            boolean isAlone = place.equals(line.peekFirst()) && committed.get() == 0;
            long left = (isAlone ? Math.min(hostPatience, patience) : patience) - waited;
            if (left <= 0 || givenUp.getAsBoolean()) {
                committed.addAndGet(part);
                return;
            }
            long rest = place.awaitNanos(left);
            assert rest <= left; // whatever woke it, it looks again
        }
    }

    private boolean tryCommit(long part) {
        for (long now = committed.get();
                Math.min(part, limit - permanent) <= limit - kept.get() - now;
                now = committed.get()) {
            if (committed.compareAndSet(now, now + part)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The call is over.
     *
     * @param need what it came in with
     */
    public void exit(long need) {
        committed.addAndGet(-Math.min(need, limit));
        if (waiting > 0) { // whoever joins the line after this looks at what is committed
            wake();
        }
    }

    /** The host keeps more, or less. Called with the lock of the set held, which is never taken under the one here. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time
    void keep(long bytes, boolean byProgram) {
        if (byProgram) {
            permanent += bytes;
        }
        long now = kept.getPlain() + bytes;
        if (bytes > 0) {
            kept.setRelease(now); // seen by whoever sees that the call is over, which is said later
        } else {
            kept.set(now);
            if (waiting > 0) { // whoever joins the line after this looks at what is kept
                wake();
            }
        }
    }

    /** Has those outside look whether they have been given up. */
    public void look() {
        lock.lock(); // who joins the line later looks before waiting
        try {
            line.forEach(Condition::signal);
        } finally {
            lock.unlock();
        }
    }

    private void wake() {
        lock.lock();
        try {
            tellFirst();
        } finally {
            lock.unlock();
        }
    }

    private void tellFirst() {
        Condition first = line.peekFirst();
        if (first != null) {
            first.signal();
        }
    }

    /**
     * Returns how many calls are outside.
     *
     * @return the number at some moment
     */
    public int waiting() {
        return waiting;
    }

    /**
     * Returns how many bytes calls inside may come to hold.
     *
     * @return bytes at some moment
     */
    public long committed() {
        return committed.get();
    }

    @Override
    public String toString() {
        return "gate of %d bytes, %d committed, %d kept, %d calls outside, patience %d ms"
                .formatted(limit, committed.get(), kept.get(), waiting, TimeUnit.NANOSECONDS.toMillis(patience));
    }
}
