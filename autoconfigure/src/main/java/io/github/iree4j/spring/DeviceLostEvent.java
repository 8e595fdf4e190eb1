package io.github.iree4j.spring;

import io.github.iree4j.status.IreeException;
import org.springframework.context.ApplicationEvent;

/** Published when a device of the runtime is lost: work on it has failed, and so will all later work. */
public final class DeviceLostEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final String device;
    private final IreeException cause;

    /**
     * Creates an event.
     *
     * @param source the publisher of the event
     * @param device the device's name
     * @param cause the reason for the loss
     */
    public DeviceLostEvent(Object source, String device, IreeException cause) {
        super(source);
        this.device = device;
        this.cause = cause;
    }

    /** Returns the device's name. */
    public String device() {
        return device;
    }

    /** Returns the reason for the loss. */
    public IreeException cause() {
        return cause;
    }
}
