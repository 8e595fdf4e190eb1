package io.github.iree4j.spring;

import org.springframework.context.ApplicationEvent;

/** A program came into another state, or further in loading. Published on the thread that loads. */
public final class ProgramStatusEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    /** Not kept when the event is serialised. */
    private final transient ProgramStatus status;

    /**
     * An event.
     *
     * @param source who publishes it
     * @param status how far the program is now
     */
    public ProgramStatusEvent(Object source, ProgramStatus status) {
        super(source);
        this.status = status;
    }

    /** How far the program is. */
    public ProgramStatus status() {
        return status;
    }
}
