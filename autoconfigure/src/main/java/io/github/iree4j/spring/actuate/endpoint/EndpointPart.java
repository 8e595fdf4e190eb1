package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.Device;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/** A part of the {@link IreeEndpoint} that another module adds as a bean: {@code /actuator/iree/NAME}. */
public interface EndpointPart {

    /**
     * Returns the name.
     *
     * @return one segment of a path, not a name that the endpoint has itself
     */
    String name();

    /**
     * Returns what there is to show. Called for each request; does not block.
     *
     * @return the response, without addresses of memory
     */
    OperationResponseBody read();

    /**
     * Returns devices that the other module has opened besides the runtime's: their queues are shown with those.
     *
     * @return open devices of the runtime's scheduling domain, borrowed
     */
    default List<Device> devices() {
        return List.of();
    }
}
