package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** Stands for Spring Cloud's, of which only the name counts. */
public final class EnvironmentChangeEvent extends ApplicationEvent {
    private static final long serialVersionUID = 1;

    /** An event. */
    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
