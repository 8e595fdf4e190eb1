package io.github.iree4j.spring.observation;

import io.github.iree4j.spring.InvocationRequest;
import io.micrometer.observation.Observation;

/** Context of an observed call. */
public class InvocationObservationContext extends Observation.Context {

    private final InvocationRequest request;
    private final String device;

    /**
     * Creates a context.
     *
     * @param request the call
     * @param device name of the device that it runs on; several names are separated by commas
     */
    public InvocationObservationContext(InvocationRequest request, String device) {
        this.request = request;
        this.device = device;
    }

    /** The call. */
    public InvocationRequest request() {
        return request;
    }

    /** The device that it runs on. */
    public String device() {
        return device;
    }
}
