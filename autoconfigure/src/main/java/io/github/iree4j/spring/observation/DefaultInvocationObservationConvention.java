package io.github.iree4j.spring.observation;

import io.github.iree4j.spring.Fault;
import io.github.iree4j.spring.observation.IreeObservationDocumentation.HighCardinality;
import io.github.iree4j.spring.observation.IreeObservationDocumentation.LowCardinality;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.micrometer.common.KeyValues;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** Default convention of observed calls: {@code iree.invocations} with program, function, device, outcome and fault. */
public class DefaultInvocationObservationConvention implements InvocationObservationConvention {

    /** Name of the observation and the observation's timer. */
    public static final String NAME = "iree.invocations";

    /** Creates the convention. */
    public DefaultInvocationObservationConvention() {}

    @Override
    public String getName() {
        return NAME;
    }

    @Override
    public String getContextualName(InvocationObservationContext context) {
        return "invoke " + context.request().model() + "."
                + context.request().function().name();
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(InvocationObservationContext context) {
        return KeyValues.of(
                LowCardinality.MODULE.withValue(context.request().model()),
                LowCardinality.FUNCTION.withValue(context.request().function().name()),
                LowCardinality.DEVICE.withValue(context.device()),
                LowCardinality.OUTCOME.withValue(outcome(context.getError())),
                LowCardinality.FAULT.withValue(fault(context)));
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(InvocationObservationContext context) {
        KeyValues values = KeyValues.of(
                HighCardinality.VERSION.withValue(
                        context.request().program().source().version()),
                HighCardinality.BLOCKING.withValue(
                        Boolean.toString(context.request().blocking())));
        return context.call() == 0 ? values : values.and(HighCardinality.CALL.withValue(Long.toString(context.call())));
    }

    private static String fault(InvocationObservationContext context) {
        Fault fault = context.fault();
        return fault == null ? "none" : fault.name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the name of a call's status.
     *
     * @param error the failure of the call; null on success
     * @return a name of {@link StatusCode}
     */
    protected String outcome(@Nullable Throwable error) {
        return switch (error) {
            case null -> StatusCode.OK.name();
            case IreeException failure -> failure.code().name();
            case CancellationException _ -> StatusCode.CANCELLED.name();
            default -> StatusCode.UNKNOWN.name();
        };
    }
}
