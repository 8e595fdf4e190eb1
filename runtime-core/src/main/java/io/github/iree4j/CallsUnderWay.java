package io.github.iree4j;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Calls of a program for those who ask why nothing moves, in the order in which they came. Its monitor guards the links of its calls. */
final class CallsUnderWay {
    private @Nullable Call first;
    private @Nullable Call last;

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

    /** Takes a call out, if it is there. */
    synchronized void remove(Call call) {
        if (!call.linked) {
            return;
        }
        call.linked = false;
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

    /** Says where calls are, of so many at most. */
    List<PendingCall> describe(int limit) {
        List<Call> calls = new ArrayList<>();
        synchronized (this) {
            for (Call each = first; each != null && calls.size() < limit; each = each.next) {
                calls.add(each);
            }
        }
        long now = System.nanoTime();
        return calls.stream().map(each -> each.describe(now)).toList();
    }
}
