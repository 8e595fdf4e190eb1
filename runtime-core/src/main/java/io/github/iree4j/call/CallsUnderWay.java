package io.github.iree4j.call;

import io.github.iree4j.monitor.PendingCall;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a program in progress, in order of arrival, and the call in turn. A call running on the thread that made the
 * call is in no list, since a list would cost each call a lock.
 */
final class CallsUnderWay {
    /*
     * CALL-2: under the monitor each call in progress is in the list, or else in turn. A call enters the list before the
     * call leaves the turn, and takes the turn before the call leaves the list.
     */

    /** The call in turn; written in turn. In release mode: late readers re-read the field. */
    private final AtomicReference<@Nullable Call> inTurn = new AtomicReference<>();

    private final Set<Call> listed = new LinkedHashSet<>(); // guarded by this
    private int lingering;

    /** Records that a call has got its turn. */
    void takesTurn(Call call) {
        inTurn.setRelease(call);
    }

    /** Records that the call in turn is about to give up the turn. A call that has not ended is in the list by now. */
    void leavesTurn() {
        inTurn.setRelease(null);
    }

    /** The call in turn; null for none. */
    @Nullable
    Call inTurn() {
        return inTurn.getAcquire();
    }

    /** Adds a call unless the call is in the list. */
    synchronized void add(Call call) {
        listed.add(call);
        call.isListed = true;
    }

    /** Takes a call of this thread off the list: the call runs, or has ended. */
    void removeOwn(Call call) {
        if (call.isListed) { // written by this thread
            remove(call);
        }
    }

    /** Removes a call, and returns whether the call was present. */
    synchronized boolean remove(Call call) {
        if (!listed.remove(call)) {
            return false;
        }
        call.isListed = false;
        lingering -= call.lingers ? 1 : 0;
        return true;
    }

    /** Marks a listed call that has returned and only waits for its fence. */
    synchronized void linger(Call call) {
        call.lingers = true;
        lingering++;
    }

    /** Number of calls only waiting for their fence. */
    synchronized int lingering() {
        return lingering;
    }

    /** Calls of the list. */
    synchronized List<Call> all() {
        return List.copyOf(listed);
    }

    /** Describes the state of calls, up to a limit. */
    List<PendingCall> describe(int limit) {
        List<Call> calls = new ArrayList<>();
        Call running;
        synchronized (this) {
            running = limit > 0 ? unlisted() : null;
            if (running != null) {
                calls.add(running);
            }
            listed.stream().limit(limit - calls.size()).forEach(calls::add);
        }
        return calls.stream().map(each -> each.describe(each.equals(running))).toList();
    }

    /** The call running on the thread that made the call; null for none. */
    private @Nullable Call unlisted() {
        Call call = inTurn();
        return call == null || call.isListed ? null : call;
    }

    /** The call with a number; null when there is no such call. */
    synchronized @Nullable Call find(long number) {
        Call running = unlisted();
        if (running != null && running.holder.number() == number) {
            return running;
        }
        for (Call each : listed) {
            if (each.holder.number() == number) {
                return each;
            }
        }
        return null;
    }

    /** Number of calls waiting for their turn. */
    synchronized int inLine() {
        return (int) listed.stream().filter(Call::isInLine).count();
    }
}
