package io.github.iree4j.hal.gpu;

import io.github.iree4j.hal.gpu.GpuEvents.Event;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Submissions of a lane in flight: rising tickets, and the events recorded after the submissions. Guarded by the owner. */
final class GpuPoints {
    private static final int INITIAL = 16; // a power of two, like the capacity

    private long[] tickets = new long[INITIAL];
    private int[] commands = new int[INITIAL];
    private @Nullable Event[] events = new @Nullable Event[INITIAL];
    private int head; // counts up for ever, like tail
    private int tail;

    GpuPoints() {
        this(0);
    }

    /** Creates an empty list with counters beginning at a number. */
    GpuPoints(int first) {
        this.head = first;
        this.tail = first;
    }

    boolean isEmpty() {
        return head == tail;
    }

    private int slot(int number) {
        return number & tickets.length - 1;
    }

    /** Adds a submission. */
    void add(long ticket, Event event, int count) {
        if (tail - head == tickets.length) {
            grow();
        }
        tickets[slot(tail)] = ticket;
        events[slot(tail)] = event;
        commands[slot(tail)] = count;
        tail++;
    }

    private void grow() {
        int count = tail - head;
        long[] oldTickets = tickets;
        int[] oldCommands = commands;
        @Nullable Event[] oldEvents = events;
        tickets = Arrays.copyOf(tickets, count * 2);
        commands = Arrays.copyOf(commands, count * 2);
        events = Arrays.copyOf(events, count * 2);
        for (int i = 0; i < count; i++) {
            int from = head + i & count - 1;
            tickets[i] = oldTickets[from];
            commands[i] = oldCommands[from];
            events[i] = oldEvents[from];
        }
        head = 0;
        tail = count;
    }

    /** Returns the ticket of the oldest submission; not when empty. */
    long firstTicket() {
        return tickets[slot(head)];
    }

    /** Returns the commands of the oldest submission; not when empty. */
    int firstCommands() {
        return commands[slot(head)];
    }

    /** Returns the event of the oldest submission; null when empty. */
    @Nullable
    Event first() {
        return isEmpty() ? null : events[slot(head)];
    }

    /** Returns the event of the latest submission; null when empty. */
    @Nullable
    Event last() {
        return isEmpty() ? null : events[slot(tail - 1)];
    }

    /** Removes the oldest submission; returns its event. */
    @Nullable
    Event remove() {
        Event event = first();
        events[slot(head)] = null;
        head++;
        return event;
    }

    /** Returns the event of the first submission with at least the given ticket; null for none. */
    @Nullable
    Event at(long ticket) {
        int found = find(ticket);
        return found == tail ? null : events[slot(found)];
    }

    /** Returns the ticket of the first submission with at least the given ticket; 0 for none. */
    long ticketFrom(long ticket) {
        int found = find(ticket);
        return found == tail ? 0 : tickets[slot(found)];
    }

    private int find(long ticket) {
        int low = head;
        int high = tail;
        while (low - high < 0) {
            int middle = low + (high - low >>> 1);
            if (tickets[slot(middle)] < ticket) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
