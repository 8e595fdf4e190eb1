package io.github.iree4j.spring.cluster.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/** Names and tags of observed commands of other nodes. A bean of this type replaces {@link DefaultCommandObservationConvention}. */
public interface CommandObservationConvention extends ObservationConvention<CommandObservationContext> {

    @Override
    default boolean supportsContext(Observation.Context context) {
        return context instanceof CommandObservationContext;
    }
}
