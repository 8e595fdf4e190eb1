package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A group call for several participants. The threads of the lanes meet once each thread has passed all earlier work to
 * the hardware. The last thread to arrive makes the call, and all continue once the library has passed the work to the
 * lanes.
 */
public final class GroupCall implements DriverCommands {
    private static final long PAUSE_NANOS = 50_000; // between polls

    private final StreamCollectives library;
    private final List<Communicator> members;
    private final List<CollectiveCall> calls;
    private int missing; // guarded by this
    private volatile boolean over;
    private volatile @Nullable IreeException failure; // written before over

    GroupCall(StreamCollectives library, List<Communicator> members, List<CollectiveCall> calls) {
        this.library = library;
        this.members = members;
        this.calls = calls;
        this.missing = members.size();
    }

    /**
     * Takes part for a lane; called once by the lane. Waits for the other participants of this process.
     *
     * @param look called at intervals during the wait: reports completed work of the lane; throws when the lane is to
     *     stop waiting
     * @throws IreeException ABORTED when the group has failed; or the refusal of the library
     */
    public void meet(Runnable look) {
        boolean last;
        synchronized (this) {
            last = --missing == 0;
        }
        if (last) {
            failure = call(look);
            over = true;
        }
        while (!over) {
            pause(look);
        }
        IreeException cause = failure;
        if (cause != null) {
            throw cause;
        }
    }

    private @Nullable IreeException call(Runnable look) {
        try {
            members.forEach(Communicator::checkTakesPart);
            library.run(calls);
            for (Communicator each : members) {
                while (each.isPending()) {
                    pause(look);
                }
            }
            return null;
        } catch (IreeException e) {
            return e;
        } catch (RuntimeException | Error e) {
            return IreeException.of(StatusCode.INTERNAL, "a group call failed: " + e, e);
        }
    }

    private void pause(Runnable look) {
        members.forEach(Communicator::checkTakesPart);
        look.run();
        LockSupport.parkNanos(this, PAUSE_NANOS);
    }
}
