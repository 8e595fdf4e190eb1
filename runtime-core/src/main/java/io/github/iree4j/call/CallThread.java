package io.github.iree4j.call;

import io.github.iree4j.async.CallThreads;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs the steps of a call on a virtual thread, started for the first step. For programs with functions written in
 * Java: such functions may block as on any thread, and are interrupted when the call is cancelled.
 */
final class CallThread implements Runnable {
    private final AsyncCall call;
    private final String name;
    private final Runnable conclusion;
    private final AtomicBoolean started = new AtomicBoolean();
    private final Semaphore woken = new Semaphore(0);

    /** Runs the conclusion, on the same thread, when the call has ended. */
    CallThread(AsyncCall call, String name, Runnable conclusion) {
        this.call = call;
        this.name = name;
        this.conclusion = conclusion;
    }

    /** Ensures that a step begins after this call. */
    void wake() {
        if (!started.get() && started.compareAndSet(false, true)) {
            CallThreads.start(name, this);
        } else {
            woken.release();
        }
    }

    @Override
    @SuppressWarnings("ThreadPriorityCheck") // the only way for a virtual thread to release its carrier
    public void run() {
        while (true) {
            switch (step()) {
                case OVER -> {
                    conclusion.run();
                    return;
                }
                case AGAIN -> Thread.yield();
                case WAITING -> {
                    woken.acquireUninterruptibly();
                    woken.drainPermits();
                }
            }
        }
    }

    private AsyncCall.Progress step() {
        call.runsOn(Thread.currentThread());
        try {
            return call.step();
        } finally {
            call.runsOn(null);
            Thread.interrupted(); // the interrupt was meant for this step
        }
    }
}
