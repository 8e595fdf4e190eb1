package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.Device;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** A part of the {@link IreeEndpoint} added by another module as a bean: {@code /actuator/iree/NAME}. */
public interface EndpointPart {

    /**
     * Returns the name.
     *
     * @return a single segment of a path, different from the endpoint's own names
     */
    String name();

    /**
     * Returns the content of the part. Called for each request; does not block.
     *
     * @return the response, without addresses of memory
     */
    OperationResponseBody read();

    /**
     * Returns further devices opened by the other module: their queues are shown together with the runtime's queues.
     *
     * @return open devices of the runtime's scheduling domain, borrowed
     */
    default List<Device> devices() {
        return List.of();
    }
}
