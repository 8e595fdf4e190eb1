package io.github.iree4j.spring.problems;

import io.github.iree4j.hal.PendingOperation;
import io.github.iree4j.monitor.PendingCall;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
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
    List<WaitGraph.Edge> cycle = List.of(); // of operations waiting for each other

    // Reported facts about all work waiting too long for the root.
    final List<String> chain = new ArrayList<>();
    Duration since = Duration.ZERO;
    int count;

    // The memory awaited directly by work waiting too long.
    private long bytes;
    private final Set<String> pools = new TreeSet<>();

    Root(PendingOperation.@Nullable Wait wait, String cause) {
        this.wait = wait;
        this.cause = cause;
    }

    /** Adds an operation waiting for memory. */
    void addForMemory(int work, PendingOperation operation, Duration patience) {
        first.set(work);
        if (operation.since().compareTo(patience) >= 0) {
            bytes += operation.bytes();
            pools.addAll(operation.pool().isEmpty() ? Set.of() : Set.of(operation.pool()));
        }
    }

    /** Adds a call waiting for memory. */
    void addForMemory(int work, PendingCall call, Duration patience) {
        first.set(work);
        bytes += call.unchanged().compareTo(patience) >= 0 ? call.bytes() : 0;
    }

    /** Names the awaited memory. */
    String awaited() {
        return DeviceMemoryText.awaited(bytes, pools);
    }
}
