package io.github.iree4j.spring;

import io.github.iree4j.Program;
import java.lang.ref.WeakReference;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The earlier versions of a program: the interface of the last, and unloaded instances without a successor. One thread at a time. */
final class Predecessors {
    private @Nullable ProgramInterface last;
    private List<String> changes = List.of();
    private List<WeakReference<Program>> unloaded = List.of(); // callers may still hold these

    /** Compares the interface of a program, the last from now on, with the interface of the last before. */
    List<String> compare(Program fresh) {
        ProgramInterface now = ProgramInterface.of(fresh);
        changes = last == null ? List.of() : last.changesTo(now);
        last = now;
        return changes;
    }

    /** The differences of the last program from its predecessor. */
    List<String> changes() {
        return changes;
    }

    /** Keeps unloaded instances until there is a successor. */
    void unloaded(List<Program> instances) {
        unloaded = instances.stream().map(WeakReference::new).toList();
    }

    /** Redirects calls of unloaded instances to a successor. */
    void handOver(Program successor) {
        for (WeakReference<Program> each : unloaded) {
            Program held = each.get();
            if (held != null) {
                held.retire(successor);
            }
        }
        unloaded = List.of();
    }
}
