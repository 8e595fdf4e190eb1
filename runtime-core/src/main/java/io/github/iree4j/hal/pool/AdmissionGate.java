package io.github.iree4j.hal.pool;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Admission control: holds calls back while the memory they will need does not fit beside what admitted calls may need and what the host
 * keeps. Calls outside the gate hold nothing and are admitted in order of arrival. A call that does not fit although it is alone is
 * admitted after a while, since it may need less. Safe from any thread.
 */
public final class AdmissionGate {
    private final long limit;
    private final long patience;
    private final long hostPatience;
    private final AtomicLong committed = new AtomicLong(); // to admitted calls
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Condition> line = new ArrayDeque<>(); // guarded by lock
    private volatile int waiting; // size of the line

    /** Bytes that the host and programs keep. Written under the lock of the set, as is {@link #permanent}. */
    private final AtomicLong kept = new AtomicLong();

    private volatile long permanent; // the part kept by loaded programs

    AdmissionGate(long limit, long patience, long hostPatience) {
        this.limit = limit;
        this.patience = patience;
        this.hostPatience = hostPatience;
    }

    /**
     * Admits a call once its need fits. Takes no lock when it fits at once. Blocks; a call that does not fit in time is admitted all the
     * same, and competes for memory.
     *
     * @param need how many bytes the call will hold at most
     * @param givenUp whether the call has been abandoned and need not wait; read after each {@link #look}
     * @throws InterruptedException when the thread is interrupted before the call is admitted
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
            waiting = line.size(); // before reading committed, see exit()
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
            // No admitted call can release anything: only the host can.
            boolean isAlone = place.equals(line.peekFirst()) && committed.get() == 0;
            long left = (isAlone ? Math.min(hostPatience, patience) : patience) - waited;
            if (left <= 0 || givenUp.getAsBoolean()) {
                committed.addAndGet(part);
                return;
            }
            long rest = place.awaitNanos(left);
            assert rest <= left; // the loop re-checks, whatever the cause of the wake-up
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
     * Ends an admitted call.
     *
     * @param need what it passed to {@link #enter}
     */
    public void exit(long need) {
        committed.addAndGet(-Math.min(need, limit));
        if (waiting > 0) { // a call that joins the line after this reads committed
            wake();
        }
    }

    /** Adds to what is kept, or subtracts. Called with the lock of the set held, which is never acquired under this gate's lock. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer at a time
    void keep(long bytes, boolean byProgram) {
        if (byProgram) {
            permanent += bytes;
        }
        long now = kept.getPlain() + bytes;
        if (bytes > 0) {
            kept.setRelease(now); // visible to a thread that sees the call end, which comes later
        } else {
            kept.set(now);
            if (waiting > 0) { // a call that joins the line after this reads kept
                wake();
            }
        }
    }

    /** Has the waiting calls check whether they have been abandoned. */
    public void look() {
        lock.lock(); // a call that joins the line later checks before it waits
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
     * Returns how many calls wait to be admitted.
     *
     * @return the number at some moment
     */
    public int waiting() {
        return waiting;
    }

    /**
     * Returns how many bytes admitted calls may come to hold.
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
