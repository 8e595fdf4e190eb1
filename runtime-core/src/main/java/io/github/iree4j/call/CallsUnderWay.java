package io.github.iree4j.call;

import io.github.iree4j.monitor.PendingCall;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a program in progress, in order of arrival, and the call in turn. A call running on the thread that made the
 * call is in no list, since a list would cost each call a lock. The monitor guards the links of the listed calls; under
 * the monitor each call in progress is in the list, or in turn.
 */
final class CallsUnderWay {
    /** The call in turn; written in turn. In release mode: late readers re-read the field. */
    private final AtomicReference<@Nullable Call> inTurn = new AtomicReference<>();

    private @Nullable Call first;
    private @Nullable Call last;
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

    /** Takes a call of this thread off the list: the call runs, or has ended. */
    void removeOwn(Call call) {
        if (call.linked) { // written by this thread
            remove(call);
        }
    }

    /** Adds a call unless the call is in the list. */
    synchronized void add(Call call) {
        if (call.linked) {
            return;
        }
        call.previous = last;
        if (last == null) {
            first = call;
        } else {
            last.next = call;
        }
        last = call;
        call.linked = true;
    }

    /** Removes a call, and returns whether the call was present. */
    synchronized boolean remove(Call call) {
        if (!call.linked) {
            return false;
        }
        call.linked = false;
        lingering -= call.lingers ? 1 : 0;
        if (call.previous == null) {
            first = call.next;
        } else {
            call.previous.next = call.next;
        }
        if (call.next == null) {
            last = call.previous;
        } else {
            call.next.previous = call.previous;
        }
        call.previous = null;
        call.next = null;
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
    List<Call> all() {
        return first(Integer.MAX_VALUE);
    }

    private synchronized List<Call> first(int limit) {
        List<Call> calls = new ArrayList<>();
        for (Call each = first; each != null && calls.size() < limit; each = each.next) {
            calls.add(each);
        }
        return calls;
    }

    /** Describes the state of calls, up to a limit. */
    List<PendingCall> describe(int limit) {
        List<Call> calls = new ArrayList<>();
        Call running;
        synchronized (this) {
            Call turn = inTurn();
            running = turn == null || turn.linked || limit == 0 ? null : turn;
            if (running != null) {
                calls.add(running);
            }
            calls.addAll(first(limit - calls.size()));
        }
        return calls.stream().map(each -> each.describe(each.equals(running))).toList();
    }

    /** The call with a number; null when there is no such call. */
    synchronized @Nullable Call find(long number) {
        Call running = inTurn();
        if (running != null && running.holder.number() == number) {
            return running;
        }
        Call each = first;
        while (each != null && each.holder.number() != number) {
            each = each.next;
        }
        return each;
    }

    /** Number of calls waiting for their turn. */
    synchronized int inLine() {
        int count = 0;
        for (Call each = first; each != null; each = each.next) {
            count += each.isInLine() ? 1 : 0;
        }
        return count;
    }
}
