package io.github.iree4j.hal.stream;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One group call for several participants: the threads of their lanes meet when each has given the hardware what comes before, the last one makes the
 * call, and each goes on once the library has given its lane the work.
 */
public final class GroupCall implements DriverCommands {
    private static final long PAUSE_NANOS = 50_000; // between looks

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
     * Takes part for one lane. Once for each; may take as long as other participants of this process need to come.
     *
     * @param look called now and then meanwhile: tells of what is over on the lane; throws when the lane is to give up
     * @throws IreeException ABORTED when the group has failed; or why the library refuses
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
            return new IreeException(StatusCode.INTERNAL, "a group call failed: " + e, e);
        }
    }

    private void pause(Runnable look) {
        members.forEach(Communicator::checkTakesPart);
        look.run();
        LockSupport.parkNanos(this, PAUSE_NANOS);
    }
}
