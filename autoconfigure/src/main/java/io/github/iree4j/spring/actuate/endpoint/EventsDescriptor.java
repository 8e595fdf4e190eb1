package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.IreeEvents.Event;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A page of events.
 *
 * @param cursor value of {@code since} for the next page
 * @param events oldest first
 */
public record EventsDescriptor(long cursor, List<Event> events) implements OperationResponseBody {

    static EventsDescriptor of(long since, List<Event> events) {
        return new EventsDescriptor(events.isEmpty() ? since : events.getLast().id(), events);
    }
}
