package io.github.iree4j.spring;

import org.springframework.context.ApplicationEvent;

/** Published when the state of a program changes or its loading advances, on the loading thread. */
public final class ProgramStatusEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    /** Not serialised. */
    private final transient ProgramStatus status;

    /**
     * Creates an event.
     *
     * @param source the publisher of the event
     * @param status the program's status now
     */
    public ProgramStatusEvent(Object source, ProgramStatus status) {
        super(source);
        this.status = status;
    }

    /** Returns the program's status. */
    public ProgramStatus status() {
        return status;
    }
}
