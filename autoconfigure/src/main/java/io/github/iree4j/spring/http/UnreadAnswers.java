package io.github.iree4j.spring.http;

import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The answers not yet read by clients. Large answers have a share of the memory of requests, so slow clients leave the
 * rest to the bodies of others. When a request is refused, answers give way if their clients have had the time of a
 * body. Thread-safe, without locks: one request makes others give way.
 */
final class UnreadAnswers {

    /** The denominator of the share. */
    private static final int SHARE = 2;

    private final AtomicLong charged = new AtomicLong();
    private final Set<LimitedBody> made = ConcurrentHashMap.newKeySet();

    /**
     * Charges an answer against the share; the limit does not bind a sole answer.
     *
     * @param memory of all requests
     * @param small whether the answer may use all memory
     * @return excess bytes; then nothing is charged
     */
    long charge(long bytes, long memory, boolean small) {
        long limit = limit(memory, small);
        for (long before = charged.get(); ; before = charged.get()) {
            if (before > 0 && before + bytes > limit) {
                return before + bytes - limit;
            }
            if (charged.compareAndSet(before, before + bytes)) {
                return 0;
            }
        }
    }

    static long limit(long memory, boolean small) {
        return small ? memory : memory / SHARE;
    }

    void refund(long bytes) {
        charged.addAndGet(-bytes);
    }

    void add(LimitedBody answer) {
        made.add(answer);
    }

    void remove(LimitedBody answer) {
        made.remove(answer);
    }

    /** Returns the charged bytes, including answers in preparation. */
    long bytes() {
        return charged.get();
    }

    /** Returns the bytes held by completed answers. */
    long madeBytes() {
        return made.stream().mapToLong(LimitedBody::answerBytes).sum();
    }

    int count() {
        return made.size();
    }

    /** Gives up the answer unread for longest, of the answers keeping places whose clients have had the time for reading. */
    void makePlace() {
        made.stream()
                .filter(LimitedBody::keepsPlace)
                .filter(LimitedBody::mayGiveWay)
                .max(Comparator.comparingLong(LimitedBody::unreadFor))
                .ifPresent(LimitedBody::giveUp);
    }

    /** Gives answers up, the largest first, until the given number of bytes will be free; fewer if clients still have time for reading. */
    void makeRoom(long bytes) {
        List<LimitedBody> late = made.stream()
                .filter(LimitedBody::mayGiveWay)
                .sorted(Comparator.comparingLong(LimitedBody::answerBytes).reversed())
                .toList();
        long free = made.stream()
                .filter(LimitedBody::isGivenUp)
                .mapToLong(LimitedBody::answerBytes)
                .sum();
        for (LimitedBody each : late) {
            if (free >= bytes) {
                return;
            }
            each.giveUp();
            free += each.answerBytes();
        }
    }
}
