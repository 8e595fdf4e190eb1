package io.github.iree4j.spring.problems;

import org.springframework.context.ApplicationEvent;

/** Published once when a problem is found, and once when the problem has ended. */
public final class ProblemEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1L;

    private final transient Problem problem;
    private final boolean over;

    /**
     * Creates an event.
     *
     * @param source the publisher of the event
     * @param problem the problem, as last found
     * @param over whether the problem has ended
     */
    public ProblemEvent(Object source, Problem problem, boolean over) {
        super(source);
        this.problem = problem;
        this.over = over;
    }

    /** Returns the problem. */
    public Problem problem() {
        return problem;
    }

    /** Returns whether the problem is resolved. */
    public boolean isResolved() {
        return over;
    }
}
