package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.frontier.Frontier;
import java.util.function.ObjLongConsumer;

/**
 * Recalls a queue's promises. A timeline used by a single queue remembers only the last promise; the operations due to
 * signal hold the others, until another party uses the timeline. Called by timelines, from any thread.
 */
@NotForApplications
public interface PromiseSource {
    /**
     * Repeats every promise of a timeline not signalled yet. Promises made meanwhile reach the timeline directly.
     *
     * @param semaphore the timeline
     * @param promises takes each frontier and its value; must not call the queue
     */
    void recall(TimelineSemaphore semaphore, ObjLongConsumer<Frontier> promises);

    /**
     * Reports that other queues may wait for the operation behind a promise. So far only the operation's queue could.
     *
     * @param promise the operation's frontier
     */
    void seen(Frontier promise);
}
