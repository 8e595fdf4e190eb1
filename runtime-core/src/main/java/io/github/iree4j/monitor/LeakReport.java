package io.github.iree4j.monitor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The unclosed objects of a runtime at one moment, including objects that can never be closed any more. Counters are
 * read one after the other, and are therefore consistent only while nothing runs.
 *
 * @param openTensors open tensors with device memory: results, uploaded and imported tensors; forgotten tensors
 *     included
 * @param openPrograms programs that are loaded, or closed with calls under way
 * @param bytesLive bytes of device memory in use on all devices, including buffers allocated without a tensor
 * @param forgottenTensors tensors dropped without being closed, as far as the garbage collector has noticed
 * @param forgottenInProcess tensors, programs and runtimes of this process dropped without being closed, of all
 *     runtimes
 * @param sites forgotten tensors by program and place of creation, most first
 * @param open open objects with the place of their creation, oldest first; empty unless {@linkplain
 *     io.github.iree4j.RuntimeBuilder#traceLeaks leaks are traced}
 */
public record LeakReport(
        long openTensors,
        long openPrograms,
        long bytesLive,
        long forgottenTensors,
        long forgottenInProcess,
        List<Site> sites,
        List<Open> open) {
    /**
     * Copies the lists.
     *
     * @param openTensors open tensors
     * @param openPrograms loaded programs
     * @param bytesLive bytes in use
     * @param forgottenTensors tensors dropped
     * @param forgottenInProcess everything dropped, over all runtimes
     * @param sites forgotten tensors by site
     * @param open open objects, where recorded
     */
    public LeakReport {
        sites = List.copyOf(sites);
        open = List.copyOf(open);
    }

    /**
     * Returns whether everything has been closed and all memory is freed.
     *
     * @return true when nothing is open or forgotten
     */
    public boolean isClean() {
        return openTensors == 0 && openPrograms == 0 && bytesLive == 0 && forgottenTensors == 0;
    }

    /**
     * Forgotten tensors from a place.
     *
     * @param program the program charged for the tensors; empty for none
     * @param place the method that created the tensors; empty unless {@linkplain
     *     io.github.iree4j.RuntimeBuilder#traceLeaks leaks are traced}
     * @param count number of tensors
     */
    public record Site(String program, String place, long count) {}

    /**
     * An open object.
     *
     * @param id ascending in order of creation, within one runtime
     * @param what description, for example {@code result 4xf32}
     * @param createdAt a stack trace, not a failure
     */
    public record Open(long id, String what, @Nullable Throwable createdAt) {}
}
