package io.github.iree4j.spring.cluster.observation;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.hal.remote.RemoteWork;
import io.github.iree4j.spring.cluster.observation.ClusterObservationDocumentation.HighCardinality;
import io.github.iree4j.spring.cluster.observation.ClusterObservationDocumentation.LowCardinality;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.common.KeyValues;
import java.util.Objects;

/** Default convention of observed commands: {@code iree.cluster.commands} with command, device, peer and outcome. */
public class DefaultCommandObservationConvention implements CommandObservationConvention {

    /** Name of the observation, and of the timer. */
    public static final String NAME = "iree.cluster.commands";

    /** Creates the convention. */
    public DefaultCommandObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(CommandObservationContext context) {
        RemoteWork work = work(context);
        return work.name() + " on " + work.device();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(CommandObservationContext context) {
        RemoteWork work = work(context);
        StatusCode outcome = context.getError() instanceof IreeException failure ? failure.code() : StatusCode.OK;
        return KeyValues.of(
                LowCardinality.COMMAND.withValue(work.name()),
                LowCardinality.DEVICE.withValue(work.device()),
                LowCardinality.MACHINE.withValue(Integer.toString(work.peer().machine())),
                LowCardinality.OUTCOME.withValue(outcome.name()));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(CommandObservationContext context) {
        RemoteWork work = work(context);
        return KeyValues.of(
                HighCardinality.PEER.withValue(work.peer().toString()),
                HighCardinality.QUEUE.withValue(Integer.toString(work.queue())),
                HighCardinality.STEPS.withValue(Integer.toString(work.steps())),
                HighCardinality.LANE.withValue(Axis.toString(work.axis())),
                HighCardinality.LANE_EPOCH.withValue(Long.toString(work.epoch())));
    }

    private static RemoteWork work(CommandObservationContext context) {
        return Objects.requireNonNull(context.getCarrier());
    }
}
