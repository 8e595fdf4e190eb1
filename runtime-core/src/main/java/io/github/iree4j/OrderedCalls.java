package io.github.iree4j;

import io.github.iree4j.async.CallThreads;
import java.util.ArrayDeque;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/** Makes calls one after the other in the order they are given, on a virtual thread that lives as long as there are any. */
final class OrderedCalls {
    private final Queue<Runnable> waiting = new ArrayDeque<>(); // guarded by this, like the next one
    private boolean running;

    /**
     * Makes a call after all those given before. Never blocks.
     *
     * @param call what to do; must not throw
     */
    void add(Runnable call) {
        synchronized (this) {
            waiting.add(call);
            if (running) {
                return;
            }
            running = true;
        }
        CallThreads.start("iree4j-submissions", this::run);
    }

    private void run() {
        for (Runnable call = next(); call != null; call = next()) {
            call.run();
            Thread.interrupted(); // was for that call
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable call = waiting.poll();
        running = call != null;
        return call;
    }
}
