package io.example.threads;

import io.github.iree4j.hal.stream.DriverTimeline;
import io.github.iree4j.hal.stream.Lane;
import io.github.iree4j.hal.stream.Submission;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A thread that executes its submissions in order. */
final class ThreadLane implements Lane {
    private final Clock clock;
    private final Clock.Timeline timeline;
    private final ArrayDeque<Submission> submissions = new ArrayDeque<>(); // guarded by the clock, like the other fields
    private boolean held;
    private boolean closed;
    private final Thread thread;

    ThreadLane(Clock clock, int index) {
        this.clock = clock;
        this.timeline = clock.new Timeline(0);
        this.thread = Thread.ofPlatform().daemon().name("threads-lane-" + index).start(this::run);
    }

    @Override
    public int family() {
        return 0;
    }

    @Override
    public boolean computes() {
        return true;
    }

    @Override
    public DriverTimeline timeline() {
        return timeline;
    }

    @Override
    public void submit(List<Submission> next) {
        synchronized (clock) {
            clock.checkNotLost();
            submissions.addAll(next);
            clock.changed();
        }
    }

    /** Pauses or continues, like hardware busy with other work. */
    void hold(boolean on) {
        synchronized (clock) {
            held = on;
            clock.changed();
        }
    }

    private void run() {
        try {
            while (true) {
                Submission next;
                synchronized (clock) {
                    if (!clock.await(() -> closed || isReady(), Long.MAX_VALUE) || closed || !clock.begin()) {
                        return;
                    }
                    next = submissions.remove();
                }
                Throwable cause = execute(next);
                synchronized (clock) {
                    if (cause == null) {
                        timeline.raise(next.ticket());
                    }
                    clock.end(cause);
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e); // no other code has a reference to the thread
        }
    }

    /** Runs commands. Returns the exception of a kernel, which ends the device; null without. */
    private static @Nullable Throwable execute(Submission next) {
        try {
            if (next.commands() instanceof ThreadCommands commands) {
                commands.run();
            }
            return null;
        } catch (Throwable t) {
            return t;
        }
    }

    /** Returns whether all waits of the first submission are reached. Under the lock. */
    private boolean isReady() {
        Submission first = submissions.peek();
        if (first == null || held) {
            return false;
        }
        for (int i = 0; i < first.waitCount(); i++) {
            if (!((Clock.Timeline) first.waitTimeline(i)).hasReached(first.waitValue(i))) {
                return false;
            }
        }
        return true;
    }

    void close() {
        synchronized (clock) {
            closed = true;
            clock.changed();
        }
        timeline.close();
    }
}
