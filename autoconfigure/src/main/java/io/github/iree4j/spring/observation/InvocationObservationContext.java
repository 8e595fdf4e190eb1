package io.github.iree4j.spring.observation;

import io.github.iree4j.spring.Fault;
import io.github.iree4j.spring.InvocationRequest;
import io.micrometer.observation.Observation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Context of an observed call. */
public class InvocationObservationContext extends Observation.Context {

    private final InvocationRequest request;
    private final @Nullable Duration limit; // as the call begins; properties may change meanwhile
    private final String device;
    private volatile @Nullable Fault fault;
    private volatile long call;

    /**
     * Creates a context.
     *
     * @param request the call
     * @param device name of the call's device; several names are separated by commas
     */
    public InvocationObservationContext(InvocationRequest request, String device) {
        this.request = request;
        this.limit = request.function().program().timeout().orElse(null);
        this.device = device;
    }

    /** Returns the call. */
    public InvocationRequest request() {
        return request;
    }

    @Override
    public void setError(Throwable error) {
        super.setError(error);
        fault = Fault.of(error, request.options().deadline().orElse(null), limit);
    }

    /** Records a call. A call made by the recorded call is not recorded; of several attempts, the last is. */
    void begins(long number, long caller) {
        if (caller == 0 || caller != call) {
            call = number;
        }
    }

    /**
     * Returns the number of the call, as in {@code calls} of the endpoint and in recordings. The calls of a batch are one
     * call, known to the observation of the caller that opened the batch.
     *
     * @return the number, above 0; 0 where no call began
     */
    public long call() {
        return call;
    }

    /** Returns the party responsible for the call's failure; null without a failure. */
    public @Nullable Fault fault() {
        return fault;
    }

    /** Returns the name of the call's device. */
    public String device() {
        return device;
    }
}
