package io.github.iree4j.spring.observation;

import io.github.iree4j.spring.Fault;
import io.github.iree4j.spring.InvocationRequest;
import io.micrometer.observation.Observation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Context of an observed call. */
public class InvocationObservationContext extends Observation.Context {

    private final InvocationRequest request;
    private final String device;
    private final long start = System.nanoTime();
    private volatile @Nullable Fault fault;

    /**
     * Creates a context.
     *
     * @param request the call
     * @param device name of the device that it runs on; several names are separated by commas
     */
    public InvocationObservationContext(InvocationRequest request, String device) {
        this.request = request;
        this.device = device;
    }

    /** The call. */
    public InvocationRequest request() {
        return request;
    }

    @Override
    public void setError(Throwable error) {
        super.setError(error);
        fault = Fault.of(
                error,
                request.options().timeout(),
                request.function().program().callLimit(),
                Duration.ofNanos(System.nanoTime() - start));
    }

    /** Whose fault it is that it failed; null while it has not. */
    public @Nullable Fault fault() {
        return fault;
    }

    /** The device that it runs on. */
    public String device() {
        return device;
    }
}
