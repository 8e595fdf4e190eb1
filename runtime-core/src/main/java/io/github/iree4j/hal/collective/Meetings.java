package io.github.iree4j.hal.collective;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A sequence of meetings of the same parties: the n-th ticket of each party admits to the n-th meeting. Guarded by the
 * lock of the {@link ChannelGroup}.
 */
public final class Meetings {
    final Kind kind;
    final int parties;
    private final long[] next; // per party, the number of the meeting of the next ticket
    private final Map<Long, Meeting> open = new HashMap<>(); // with a ticket issued, not complete

    /** The kind of work of the meetings. */
    public enum Kind {
        /** A collective of all participants. The party is the rank. */
        COLLECTIVE,
        /** A transfer: the sender is party 0, the receiver party 1. */
        TRANSFER,
        /** A split. The party is the rank. */
        SPLIT
    }

    Meetings(Kind kind, int parties) {
        this.kind = kind;
        this.parties = parties;
        this.next = new long[parties];
    }

    /** A meeting. */
    public static final class Meeting {
        final Meetings sequence;
        final long number;
        final @Nullable Arrival[] arrivals; // by party
        int arrived;

        private Meeting(Meetings sequence, long number) {
            this.sequence = sequence;
            this.number = number;
            this.arrivals = new @Nullable Arrival[sequence.parties];
        }

        /**
         * Returns the kind of work of the parties.
         *
         * @return the kind
         */
        public Kind kind() {
            return sequence.kind;
        }

        /**
         * Returns the position of this meeting among the meetings of the same parties.
         *
         * @return from 0 on
         */
        public long number() {
            return number;
        }

        /**
         * Returns the arrivals.
         *
         * @return by party, complete once the meeting is complete
         */
        public List<Arrival> arrivals() {
            List<Arrival> all = new ArrayList<>(arrivals.length);
            for (Arrival each : arrivals) {
                all.add(Objects.requireNonNull(each));
            }
            return all;
        }
    }

    /**
     * Admission of a party to a meeting.
     *
     * @param meeting the meeting
     * @param party the party
     */
    public record Ticket(Meeting meeting, int party) {}

    Ticket ticket(int party) {
        long number = next[party]++;
        Meeting meeting = open.computeIfAbsent(number, n -> new Meeting(this, n));
        return new Ticket(meeting, party);
    }

    /** Returns whether a meeting waits, or would wait, for a party that has left. */
    boolean isHopeless(long number, int gone) {
        return next[gone] <= number;
    }

    /** Returns whether any open meeting waits for a party that has left. */
    boolean isAnyHopeless(int gone) {
        return open.keySet().stream().anyMatch(number -> isHopeless(number, gone));
    }

    void close(Meeting meeting) {
        open.remove(meeting.number);
    }

    Iterable<Meeting> open() {
        return open.values();
    }

    void clear() {
        open.clear();
    }
}
