package io.github.iree4j.call;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Calls of a program in progress, for diagnostics, in order of arrival. A call that runs on the thread that made it is in no list, since that
 * would cost each call a lock. Its monitor guards the links of its calls; under it each call in progress is in one place.
 */
final class CallsUnderWay {
    /** The call that runs on the thread that made it; written in turn. In release mode: late readers re-read it. */
    private final AtomicReference<@Nullable Call> inTurn = new AtomicReference<>();

    private @Nullable Call first;
    private @Nullable Call last;
    private int lingering;

    /** The thread that made a call, and has the turn, begins to run it, or goes on; from the list, if the call is there, in one step. */
    void runs(Call call) {
        if (!call.linked) { // written by this thread
            inTurn.setRelease(call);
            return;
        }
        synchronized (this) {
            inTurn.setRelease(call);
            remove(call);
        }
    }

    /** The call that runs is suspended, or has returned and waits for its work: enters the list in one step. */
    synchronized void stops(Call call) {
        add(call);
        inTurn.setRelease(null);
    }

    /** The thread that made a call runs it no longer, and still has the turn. */
    void leavesTurn() {
        inTurn.setRelease(null);
    }

    /** A call that this thread made has ended. */
    void ends(Call call) {
        if (call.linked) { // written by this thread
            remove(call);
        }
    }

    /** Adds a call, unless it is in the list. */
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

    /** Removes a call, if present. */
    synchronized void remove(Call call) {
        if (!call.linked) {
            return;
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
    }

    /** Marks a call of the list that has returned, and only waits for its fence. */
    synchronized void linger(Call call) {
        call.lingers = true;
        lingering++;
    }

    /** Number of calls that only wait for their fence. */
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
    <T> List<T> describe(int limit, ProgramCalls.Description<T> description) {
        List<Call> calls = new ArrayList<>();
        Call running;
        synchronized (this) {
            running = limit > 0 ? inTurn.getAcquire() : null;
            if (running != null) {
                calls.add(running);
            }
            calls.addAll(first(limit - calls.size()));
        }
        return calls.stream()
                .map(each -> each.describe(each.equals(running), description))
                .toList();
    }

    /** The call of a number; null when there is none. */
    synchronized @Nullable Call find(long number) {
        Call running = inTurn.getAcquire();
        if (running != null && running.number() == number) {
            return running;
        }
        Call each = first;
        while (each != null && each.number() != number) {
            each = each.next;
        }
        return each;
    }

    /** Number of calls that wait for their turn. */
    synchronized int inLine() {
        int count = 0;
        for (Call each = first; each != null; each = each.next) {
            count += each.isInLine() ? 1 : 0;
        }
        return count;
    }
}
