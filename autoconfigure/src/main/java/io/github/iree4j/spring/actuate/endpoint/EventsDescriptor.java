package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.IreeEvents.Event;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What happened.
 *
 * @param cursor what to pass as {@code since} to see what happens after
 * @param events oldest first
 */
public record EventsDescriptor(long cursor, List<Event> events) implements OperationResponseBody {

    static EventsDescriptor of(long since, List<Event> events) {
        return new EventsDescriptor(events.isEmpty() ? since : events.getLast().id(), events);
    }
}
