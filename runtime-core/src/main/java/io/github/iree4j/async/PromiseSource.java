package io.github.iree4j.async;

import io.github.iree4j.frontier.Frontier;
import java.util.function.ObjLongConsumer;

/**
 * What a queue knows of what it has promised. A timeline that it alone uses remembers just the last promise; the others are with the
 * operations that will signal, until somebody else has to do with the timeline. Called by timelines, from any thread.
 */
public interface PromiseSource {
    /**
     * Tells every promise of a timeline that has not been signalled. Of one that is made meanwhile the timeline has heard.
     *
     * @param semaphore the timeline
     * @param promises takes each frontier and its value; must not call the queue
     */
    void recall(TimelineSemaphore semaphore, ObjLongConsumer<Frontier> promises);

    /**
     * Says that other queues may wait for the operation behind a promise, which had seemed to be nobody else's concern.
     *
     * @param promise the operation's frontier
     */
    void seen(Frontier promise);
}
