package io.github.iree4j.spring.autoconfigure;

import org.springframework.context.ApplicationEvent;

/**
 * Reports that a stopping application has waited for requests until the limit: servers still waiting for requests end
 * now, since code run by the requests cannot be stopped.
 */
public final class StopOverdueEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    StopOverdueEvent(Object source) {
        super(source);
    }
}
