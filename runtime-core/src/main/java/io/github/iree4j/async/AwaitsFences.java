package io.github.iree4j.async;

import java.util.List;

/** Something that waits for fences, for those who ask why nothing moves. */
public interface AwaitsFences {
    /**
     * Returns what is waited for.
     *
     * @return all of it, reached or not; borrowed, and only to be looked at: whoever waits may have closed them by then
     */
    List<Fence> awaited();
}
