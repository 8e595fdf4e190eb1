package io.github.iree4j.spring;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The last things that happened to devices and programs, for people who look later. Safe for use by any number of threads. */
public final class IreeEvents {

    /** How many events are kept. */
    public static final int CAPACITY = 256;

    private final ArrayDeque<Event> ring = new ArrayDeque<>(); // guarded by itself
    private long last; // guarded by ring

    /** An empty ring. */
    public IreeEvents() {}

    /**
     * Something that happened.
     *
     * @param id its number: each is one more than that before
     * @param time when
     * @param type what kind, for example {@code program.ready}
     * @param subject what it happened to
     * @param message for people
     */
    public record Event(long id, Instant time, String type, String subject, String message) {}

    /**
     * Adds an event; the oldest is dropped when there are too many.
     *
     * @param type what kind
     * @param subject what it happened to
     * @param message for people
     */
    public void add(String type, String subject, String message) {
        synchronized (ring) {
            if (ring.size() == CAPACITY) {
                ring.removeFirst();
            }
            ring.addLast(new Event(++last, Instant.now(), type, subject, message));
        }
    }

    /**
     * Returns events.
     *
     * @param after the number of the last event that the caller has; 0 for none
     * @param limit the most to return, the oldest of them
     * @return those after it that are still kept, oldest first
     */
    public List<Event> since(long after, int limit) {
        List<Event> events = new ArrayList<>();
        synchronized (ring) {
            for (Event event : ring) {
                if (event.id() > after && events.size() < limit) {
                    events.add(event);
                }
            }
        }
        return events;
    }
}
