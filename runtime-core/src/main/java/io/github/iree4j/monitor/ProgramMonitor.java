package io.github.iree4j.monitor;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.vm.VmModule;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A program, as operators see it: {@link io.github.iree4j.Program#monitor()}. Further modules with variants of the
 * program's functions are included. Any thread may use a monitor.
 */
public interface ProgramMonitor {
    /**
     * Returns the number of calls in progress: running, waiting, or in line for their turn.
     *
     * @return the number at some moment
     */
    int activeCalls();

    /**
     * Describes calls in progress and their waits, including synchronous calls.
     *
     * @param limit maximum number
     * @return a snapshot, oldest first
     */
    List<PendingCall> pendingCalls(int limit);

    /**
     * Ends one call in progress, in any state, as if the caller had cancelled the call: the call fails with CANCELLED.
     * For a synchronous call, the calling thread is interrupted, and sees no interrupt after the call. Code running on
     * a device is not stopped, but work waiting to run is withdrawn. Returns at once.
     *
     * @param id the {@linkplain PendingCall#id number} of the call
     * @return false when the program has no such call in progress, or the call has ended and only has to signal its fence
     */
    boolean cancelCall(long id);

    /**
     * Ends one call in progress, as {@link #cancelCall(long)} does, where no operator asked for the end.
     *
     * @param id the {@linkplain PendingCall#id number} of the call
     * @param why the reason, for the text of the failure
     * @return false when the program has no such call in progress, or the call has ended and only has to signal its fence
     */
    boolean cancelCall(long id, String why);

    /**
     * Returns the number of calls waiting for their turn now, and the number and waiting time of calls that have
     * waited.
     *
     * @return a snapshot
     */
    TurnStatistics turns();

    /**
     * Returns the reason why calls fail: a file used in place by the program, such as a parameter archive, was changed,
     * see {@link io.github.iree4j.status.FileInPlace}. Loading the program again ends the failure, and so does
     * restoring the file. Never waits for a file system that may hang, but gives the answer of an earlier look.
     *
     * @return DATA_LOSS, with the path of the file; UNAVAILABLE, with the path, while the file system of a file gives no
     *     answer; null while there is no such cause, or no cause is known yet
     */
    @Nullable
    IreeException failure();

    /**
     * Returns likely faults of the program, although the program could be loaded, see
     * {@link io.github.iree4j.vm.bytecode.ProgramCheck}; faults are logged as well.
     *
     * @return a sentence for each fault; usually empty
     */
    List<String> warnings();

    /**
     * Returns the modules that the program was loaded from, without modules of the runtime.
     *
     * @return in the order of loading
     */
    List<VmModule> modules();
}
