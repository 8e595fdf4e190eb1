package io.github.iree4j.spring.autoconfigure;

import org.springframework.context.ApplicationEvent;

/**
 * Says that an application which stops has waited for requests as long as it may: servers that still wait for some end
 * them now, since code that they run cannot be stopped.
 */
public final class StopOverdueEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    StopOverdueEvent(Object source) {
        super(source);
    }
}
