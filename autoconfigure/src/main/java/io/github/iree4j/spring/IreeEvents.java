package io.github.iree4j.spring;

import io.github.iree4j.api.NotForApplications;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The most recent events of devices and programs, kept for later inspection. Thread-safe. */
@NotForApplications
public final class IreeEvents {

    /** Maximum number of kept events. */
    public static final int CAPACITY = 256;

    private final ArrayDeque<Event> ring = new ArrayDeque<>(); // guarded by itself
    private long last; // guarded by ring

    /** Creates an empty ring. */
    public IreeEvents() {}

    /**
     * An event.
     *
     * @param id sequence number; consecutive
     * @param time of the event
     * @param type the kind of event, for example {@code program.ready}
     * @param subject the affected device or program
     * @param message human-readable description
     */
    public record Event(long id, Instant time, String type, String subject, String message) {}

    /**
     * Adds an event; drops the oldest when the ring is full.
     *
     * @param type the kind of event
     * @param subject the affected device or program
     * @param message human-readable description
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
     * @param after sequence number of the last event known to the caller; 0 for none
     * @param limit maximum number of events to return; the oldest are preferred
     * @return the later events still kept, oldest first
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
