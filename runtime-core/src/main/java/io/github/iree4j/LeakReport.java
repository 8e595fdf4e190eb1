package io.github.iree4j;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What of a runtime has not been closed at one moment, and what can never be closed any more. Counters are read one after the other, so
 * they fit together only while nothing runs.
 *
 * @param openTensors tensors with device memory that are open: results, uploaded and imported ones; those forgotten included
 * @param openPrograms programs that are loaded, or closed with calls under way
 * @param bytesLive bytes of device memory in use by whatever it is, over all devices: buffers too that were allocated without a tensor
 * @param forgottenTensors tensors that were dropped without being closed, as far as the garbage collector has found out
 * @param forgottenInProcess tensors, programs and runtimes of this process that were dropped without being closed, of all runtimes
 * @param open what is open with the place of its creation, oldest first; empty unless {@link RuntimeOptions#traceLeaks}
 */
public record LeakReport(
        long openTensors,
        long openPrograms,
        long bytesLive,
        long forgottenTensors,
        long forgottenInProcess,
        List<Open> open) {
    /**
     * Keeps its own copy of the list.
     *
     * @param openTensors open tensors
     * @param openPrograms loaded programs
     * @param bytesLive bytes in use
     * @param forgottenTensors tensors dropped
     * @param forgottenInProcess everything dropped, of all runtimes
     * @param open what is open, where known
     */
    public LeakReport {
        open = List.copyOf(open);
    }

    /**
     * Returns whether everything has been closed and all memory is back.
     *
     * @return true when nothing is open or forgotten
     */
    public boolean isClean() {
        return openTensors == 0 && openPrograms == 0 && bytesLive == 0 && forgottenTensors == 0;
    }

    /**
     * One thing that is open.
     *
     * @param id larger for what was created later, within one runtime
     * @param what for example {@code result 4xf32}
     * @param createdAt a stack trace, no failure
     */
    public record Open(long id, String what, @Nullable Throwable createdAt) {}
}
