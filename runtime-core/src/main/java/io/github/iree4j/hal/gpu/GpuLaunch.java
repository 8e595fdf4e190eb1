package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.stream.DriverCommands;
import io.github.iree4j.nativeaccess.GpuCollectives;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One group call for several participants: the threads of their lanes meet when each stream has what comes before, the last one makes the call,
 * and each goes on once the library has given its stream the work. Meanwhile they tell of what is over on their streams.
 */
final class GpuLaunch implements DriverCommands {
    private static final long PAUSE_NANOS = 50_000; // between looks

    private final GpuCollectives library;
    private final GpuCollectives.Calls calls;
    private final List<GpuMember> members;
    private int missing; // guarded by this
    private volatile boolean over;
    private volatile @Nullable IreeException failure; // written before over

    GpuLaunch(GpuCollectives library, GpuCollectives.Calls calls, List<GpuMember> members) {
        this.library = library;
        this.calls = calls;
        this.members = members;
        this.missing = members.size();
    }

    /**
     * On a lane's thread: takes part.
     *
     * @throws IreeException ABORTED when a participant was aborted before; or why the library refuses
     */
    void meet(GpuLane lane) {
        boolean last;
        synchronized (this) {
            last = --missing == 0;
        }
        if (last) {
            failure = call(lane);
            over = true;
        }
        while (!over) {
            pause(lane);
        }
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    private @Nullable IreeException call(GpuLane lane) {
        try {
            for (GpuMember each : members) {
                each.checkNotAborted();
            }
            library.run(calls);
            for (GpuMember each : members) {
                while (each.isPending()) {
                    pause(lane);
                }
            }
            return null;
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) {
            return new IreeException(StatusCode.INTERNAL, "a group call failed: " + e, e);
        }
    }

    private void pause(GpuLane lane) {
        for (GpuMember each : members) {
            each.checkNotAborted();
        }
        lane.look();
        LockSupport.parkNanos(this, PAUSE_NANOS);
    }
}
