package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** Stand-in for Spring Cloud's event, of which only the name matters. */
public final class EnvironmentChangeEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1;

    /** An event. */
    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
