package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.lab.Fault;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scale;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@link WebEndpoint @WebEndpoint} that lists the scenarios of the laboratory and runs them, on virtual devices of their
 * own: it neither reads nor changes the runtime of the application. Runs are bounded by the ranges of {@link Scale} and
 * the number of faults. Thread-safe.
 */
@WebEndpoint(id = "ireelab", defaultAccess = Access.READ_ONLY)
public final class IreeLabEndpoint {

    /** The maximum number of faults of a run. */
    static final int MOST_FAULTS = 16;

    private static final String JSON = "application/json";

    /** Creates an endpoint. */
    public IreeLabEndpoint() {}

    /** Returns the scenarios. */
    @ReadOperation
    public LabDescriptor scenarios() {
        return new LabDescriptor(
                Laboratory.scenarios().stream().map(LabDescriptor.Item::of).toList());
    }

    /**
     * Runs a scenario.
     *
     * @param scenario its id
     * @param width number of independent copies; 1 when absent
     * @param depth number of chained repetitions; 1 when absent
     * @param lanes lanes of the scalable hardware; as the scenario says when absent
     * @param fault faults in the form of {@link Fault#parse}, separated by commas; none when absent
     * @return the run as JSON; status 404 for an unknown scenario and 400 for values out of range, with the limits
     */
    @ReadOperation(produces = JSON)
    public WebEndpointResponse<String> run(
            @Selector String scenario,
            @Nullable Integer width,
            @Nullable Integer depth,
            @Nullable Integer lanes,
            @Nullable String fault) {
        try {
            Scale scale = new Scale(
                    Objects.requireNonNullElse(width, 1),
                    Objects.requireNonNullElse(depth, 1),
                    Objects.requireNonNullElse(lanes, 0));
            LabOptions options = LabOptions.DEFAULT.withScale(scale).withFaults(faults(fault));
            return new WebEndpointResponse<>(
                    Laboratory.run(Laboratory.scenario(scenario), options).toJson());
        } catch (IreeException e) {
            return refusal(e);
        }
    }

    private static List<Fault> faults(@Nullable String text) {
        if (text == null || text.isEmpty()) {
            return List.of();
        }
        String[] parts = text.split(",", MOST_FAULTS + 1);
        if (parts.length > MOST_FAULTS) {
            throw new IreeException(StatusCode.INVALID_ARGUMENT, "a run has at most %d faults".formatted(MOST_FAULTS));
        }
        return Stream.of(parts).map(Fault::parse).toList();
    }

    private static WebEndpointResponse<String> refusal(IreeException e) {
        int status = switch (e.code()) {
            case NOT_FOUND -> 404;
            case INVALID_ARGUMENT, OUT_OF_RANGE -> 400;
            default -> throw e;
        };
        return new WebEndpointResponse<>(
                "{\"status\":%d,\"detail\":%s}".formatted(status, quote(e.getMessage())), status);
    }

    private static String quote(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        text.chars().forEach(c -> {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append((char) c);
            } else if (c < ' ') {
                quoted.append("\\u%04x".formatted(c));
            } else {
                quoted.append((char) c);
            }
        });
        return quoted.append('"').toString();
    }
}
