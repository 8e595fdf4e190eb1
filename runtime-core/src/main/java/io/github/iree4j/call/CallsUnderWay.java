package io.github.iree4j.call;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls of a program in progress, for diagnostics, in order of arrival. Its monitor guards the links of its calls. */
final class CallsUnderWay {
    private @Nullable Call first;
    private @Nullable Call last;
    private int lingering;

    /** Adds a call that is in no list. */
    synchronized void add(Call call) {
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
    <T> List<T> describe(int limit, @Nullable Call inTurn, ProgramCalls.Description<T> description) {
        List<Call> calls = new ArrayList<>();
        if (inTurn != null && limit > 0 && !isLinked(inTurn)) { // its thread runs, and so is in no list
            calls.add(inTurn);
        }
        calls.addAll(first(limit - calls.size()));
        return calls.stream()
                .map(each -> each.describe(each.equals(inTurn), description))
                .toList();
    }

    /** The call of a number; null when there is none, or only one that runs on its thread. */
    @Nullable
    Call find(long number) {
        for (Call each : all()) {
            if (each.number() == number) {
                return each;
            }
        }
        return null;
    }

    /** Number of calls that wait for their turn. */
    synchronized int inLine(@Nullable Call inTurn) {
        int count = 0;
        for (Call each = first; each != null; each = each.next) {
            count += each.isInLine() && !each.equals(inTurn) ? 1 : 0;
        }
        return count;
    }

    private synchronized boolean isLinked(Call call) {
        return call.linked;
    }
}
