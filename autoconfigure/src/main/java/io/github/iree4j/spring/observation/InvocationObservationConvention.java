package io.github.iree4j.spring.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names and tags of observed calls. A bean of this type replaces {@link DefaultInvocationObservationConvention}. */
public interface InvocationObservationConvention extends ObservationConvention<InvocationObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof InvocationObservationContext;
    }
}
