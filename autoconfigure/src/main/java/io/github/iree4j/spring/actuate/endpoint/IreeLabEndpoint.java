package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.hal.schedule.WaitKnowledge;
import io.github.iree4j.lab.Comparison;
import io.github.iree4j.lab.Fault;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scale;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Collectors;
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

    /** The maximum delay of the host, in ticks. */
    static final int MOST_DELAY = 100;

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
        return answer(() -> Laboratory.run(Laboratory.scenario(scenario), options(width, depth, lanes, fault))
                .toJson());
    }

    /**
     * Runs a scenario three times, with each lane a queue: ordered by binary events, by timelines, by frontiers.
     *
     * @param scenario its id
     * @param view ways
     * @param width as in {@link #run}
     * @param depth as in {@link #run}
     * @param lanes as in {@link #run}
     * @param fault as in {@link #run}
     * @param delay ticks until the host learns of a completion, up to {@value #MOST_DELAY}; 1 when absent
     * @return the comparison and the three runs as JSON, with status as in {@link #run}; null for another view
     */
    @ReadOperation(produces = JSON)
    public @Nullable WebEndpointResponse<String> view(
            @Selector String scenario,
            @Selector String view,
            @Nullable Integer width,
            @Nullable Integer depth,
            @Nullable Integer lanes,
            @Nullable String fault,
            @Nullable Integer delay) {
        return view.equals("ways")
                ? answer(() -> ways(
                        Laboratory.scenario(scenario),
                        options(width, depth, lanes, fault).withHostDelay(hostDelay(delay))))
                : null;
    }

    private static String ways(Scenario scenario, LabOptions options) {
        Scenario queues = scenario.withPlacement(Placement.QUEUES);
        return Stream.of(WaitKnowledge.EVENTS, WaitKnowledge.TIMELINES, WaitKnowledge.FRONTIERS)
                .map(each -> "\"%s\":%s"
                        .formatted(
                                each.name().toLowerCase(Locale.ROOT),
                                Laboratory.run(queues, options.withKnowledge(each))
                                        .toJson()))
                .collect(Collectors.joining(
                        ",", "{\"costs\":" + Comparison.of(scenario, options).toJson() + ",\"runs\":{", "}}"));
    }

    private static LabOptions options(
            @Nullable Integer width, @Nullable Integer depth, @Nullable Integer lanes, @Nullable String fault) {
        Scale scale = new Scale(
                Objects.requireNonNullElse(width, 1),
                Objects.requireNonNullElse(depth, 1),
                Objects.requireNonNullElse(lanes, 0));
        return LabOptions.DEFAULT.withScale(scale).withFaults(faults(fault));
    }

    private static int hostDelay(@Nullable Integer delay) {
        int ticks = Objects.requireNonNullElse(delay, 1);
        if (ticks < 0 || ticks > MOST_DELAY) {
            throw new IreeException(
                    StatusCode.INVALID_ARGUMENT,
                    "delay is %d, which is not within [0, %d]".formatted(ticks, MOST_DELAY));
        }
        return ticks;
    }

    private static WebEndpointResponse<String> answer(Supplier<String> json) {
        try {
            return new WebEndpointResponse<>(json.get());
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
