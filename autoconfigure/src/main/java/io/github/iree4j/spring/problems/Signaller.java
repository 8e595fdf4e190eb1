package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.hal.PendingOperation;
import java.util.List;

/** Work that waits for points and is to signal points. */
@NotForApplications
public sealed interface Signaller permits Signallers.Submitted, ActiveCall {

    /** Returns the awaited points that were not reached. */
    List<PendingOperation.Wait> waits();

    /** Returns the points to be signalled. */
    List<PendingOperation.Point> signals();
}
