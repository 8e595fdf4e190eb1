package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The cause of waiting, directly or through other work. Confined to one thread. */
final class Root {
    final BitSet first = new BitSet(); // the work waiting directly for the root
    final PendingOperation.@Nullable Wait wait;
    final String cause;
    boolean hasDeadline; // of running calls
    long call; // the number of the oldest running call
    Duration runs = Duration.ZERO; // the time of this call
    String device = ""; // the device of the running calls

    // Reported facts about all work waiting too long for the root.
    final List<String> chain = new ArrayList<>();
    Duration since = Duration.ZERO;
    int count;

    Root(PendingOperation.@Nullable Wait wait, String cause) {
        this.wait = wait;
        this.cause = cause;
    }
}
