package io.github.iree4j.spring;

import io.github.iree4j.status.IreeException;
import org.springframework.context.ApplicationEvent;

/** A device of the runtime was lost: what was on it has failed, and so does everything that comes. */
public final class DeviceLostEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final String device;
    private final IreeException cause;

    /**
     * An event.
     *
     * @param source who publishes it
     * @param device the device's name
     * @param cause why it was lost
     */
    public DeviceLostEvent(Object source, String device, IreeException cause) {
        super(source);
        this.device = device;
        this.cause = cause;
    }

    /** The device's name. */
    public String device() {
        return device;
    }

    /** Why it was lost. */
    public IreeException cause() {
        return cause;
    }
}
