package io.github.iree4j.task;

import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Processes that wait for one worker, first come first served; any thread adds, any thread takes. */
final class ImmediateList {
    private final ConcurrentLinkedQueue<TaskProcess> queue = new ConcurrentLinkedQueue<>();

    void push(TaskProcess process) {
        queue.add(process);
    }

    @Nullable
    TaskProcess pop() {
        return queue.poll();
    }

    boolean isEmpty() {
        return queue.isEmpty();
    }
}
