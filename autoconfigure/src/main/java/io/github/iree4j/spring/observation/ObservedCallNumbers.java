package io.github.iree4j.spring.observation;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.monitor.CallListener;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.ObservationView;

/** Records the numbers of calls in the observations in whose scope the calls begin. */
@NotForApplications
public final class ObservedCallNumbers implements CallListener {

    private final ObservationRegistry registry;

    /**
     * Creates a listener.
     *
     * @param registry knows the current observation of a thread
     */
    public ObservedCallNumbers(ObservationRegistry registry) {
        this.registry = registry;
    }

    @Override
    public void begins(long call, long caller) {
        ObservationView observation = registry.getCurrentObservation();
        while (observation != null) {
            Observation.ContextView context = observation.getContextView();
            if (context instanceof InvocationObservationContext invocation) {
                invocation.begins(call, caller);
                return;
            }
            observation = context.getParentObservation(); // interceptors of the application may observe, too
        }
    }
}
