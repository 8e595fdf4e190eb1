package io.github.iree4j.async;

import io.github.iree4j.api.NotForApplications;
import java.util.List;

/** An object waiting for fences, for diagnosing stalls. */
@NotForApplications
public interface AwaitsFences {
    /**
     * Returns the fences waited for.
     *
     * @return all fences, reached or not; borrowed, and only for inspection: the waiter may have closed some meanwhile
     */
    List<Fence> awaited();
}
