package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.flight.FlightRecorder;
import io.github.iree4j.lab.Comparison;
import io.github.iree4j.lab.Fault;
import io.github.iree4j.lab.LabOptions;
import io.github.iree4j.lab.Laboratory;
import io.github.iree4j.lab.Scale;
import io.github.iree4j.lab.Scenario;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;
import org.springframework.http.MediaType;

/**
 * {@link WebEndpoint @WebEndpoint} listing and running the scenarios of the laboratory, on dedicated virtual devices:
 * the endpoint changes nothing in the application's runtime, and reads only the flight recorder. A scenario can also be
 * a part of the request.
 *
 * <p>Runs are bounded by the ranges of {@link Scale}, the number of faults and {@value #MOST_OPERATIONS} operations.
 * {@value #MOST_RUNS} run at once, regardless of the number of clients, on threads of the endpoint, and
 * {@value #MOST_WAITING} wait; others are refused at once. Thread-safe.
 */
@WebEndpoint(id = "ireelab", defaultAccess = Access.READ_ONLY)
public final class IreeLabEndpoint implements AutoCloseable {

    /** The maximum number of faults of a run. */
    static final int MOST_FAULTS = 16;

    /** The maximum delay of the host, in ticks. */
    static final int MOST_DELAY = 100;

    /** The maximum number of operations of a run, after scaling. */
    static final int MOST_OPERATIONS = 4096;

    /** The maximum number of lanes of a run's hardware. */
    static final int MOST_LANES = 1024;

    /** The number of requests that run scenarios at the same time. */
    static final int MOST_RUNS = 2;

    /** The number of requests that wait for others. */
    static final int MOST_WAITING = 4;

    private final LabScenarios scenarios;
    private final LongRequests runs;

    /**
     * Creates an endpoint.
     *
     * @param recorder the flight recorder, whose records can be run as a scenario; null for none
     * @param detaches whether operations return a future of the response, as Spring MVC permits, and hold no thread of
     *     the server; otherwise operations wait for the response
     */
    public IreeLabEndpoint(@Nullable FlightRecorder recorder, boolean detaches) {
        this.scenarios = new LabScenarios(recorder);
        this.runs = new LongRequests(MOST_RUNS, MOST_WAITING, "scenarios are being run", "iree4j-lab", detaches);
    }

    /** Returns the scenarios. */
    @ReadOperation
    public LabDescriptor scenarios() {
        return new LabDescriptor(
                Laboratory.scenarios().stream().map(LabDescriptor.Item::of).toList());
    }

    /**
     * Runs a scenario.
     *
     * @param scenario the scenario's id; own for the scenario in {@code text}, recorded for records of the flight
     *     recorder
     * @param width number of independent copies; 1 when absent
     * @param depth number of chained repetitions; 1 when absent
     * @param lanes lanes of the scalable hardware; the scenario's own number when absent
     * @param fault faults in the form of {@link Fault#parse}, separated by commas; none when absent
     * @param text for own, the scenario: YAML or JSON in UTF-8, as a raw deflate stream, in Base64 for URLs
     * @param recorder for recorded, the opening time of the flight recorder, as in recordings: another recorder numbers
     *     other records alike
     * @param since for recorded, the number of the first record
     * @param until for recorded, the number after the last record's
     * @return the run as JSON; status 404 for an unknown scenario, 400 for values out of range, with the limits, and
     *     503 when too many requests wait, with {@code Retry-After} if detached
     */
    @ReadOperation(produces = MediaType.APPLICATION_JSON_VALUE)
    public Object run(
            @Selector String scenario,
            @Nullable Integer width,
            @Nullable Integer depth,
            @Nullable Integer lanes,
            @Nullable String fault,
            @Nullable String text,
            @Nullable String recorder,
            @Nullable Long since,
            @Nullable Long until) {
        return answer(() -> {
            LabOptions options = options(width, depth, lanes, fault);
            return Laboratory.run(bounded(scenarios.find(scenario, text, recorder, since, until), options), options)
                    .toJson();
        });
    }

    /**
     * Runs a scenario three times, with each lane a queue: ordered by binary events, by timelines, by frontiers.
     *
     * @param scenario the scenario's id
     * @param view ways
     * @param width as in {@link #run}
     * @param depth as in {@link #run}
     * @param lanes as in {@link #run}
     * @param fault as in {@link #run}
     * @param text as in {@link #run}
     * @param recorder as in {@link #run}
     * @param since as in {@link #run}
     * @param until as in {@link #run}
     * @param delay ticks until a completion is known to the host, up to {@value #MOST_DELAY}; 1 when absent
     * @return the comparison and the three runs as JSON, with status as in {@link #run}; null for another view
     */
    @ReadOperation(produces = MediaType.APPLICATION_JSON_VALUE)
    public @Nullable Object view(
            @Selector String scenario,
            @Selector String view,
            @Nullable Integer width,
            @Nullable Integer depth,
            @Nullable Integer lanes,
            @Nullable String fault,
            @Nullable String text,
            @Nullable String recorder,
            @Nullable Long since,
            @Nullable Long until,
            @Nullable Integer delay) {
        return view.equals("ways")
                ? answer(() -> {
                    LabOptions options = options(width, depth, lanes, fault).withHostDelay(hostDelay(delay));
                    return Comparison.toJsonWithRuns(
                            bounded(scenarios.find(scenario, text, recorder, since, until), options), options);
                })
                : null;
    }

    private static Scenario bounded(Scenario scenario, LabOptions options) {
        long operations = (long) scenario.operations().size()
                * options.scale().width()
                * options.scale().depth();
        long lanes =
                scenario.hardware().stream().mapToLong(Scenario.Hardware::lanes).sum();
        if (operations > MOST_OPERATIONS || lanes > MOST_LANES) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "%d operations on %d lanes are more than %d on %d; run them with 'bin/iree4j lab run FILE --json' and open the result"
                            .formatted(operations, lanes, MOST_OPERATIONS, MOST_LANES));
        }
        return scenario;
    }

    private static LabOptions options(
            @Nullable Integer width, @Nullable Integer depth, @Nullable Integer lanes, @Nullable String fault) {
        Scale scale = new Scale(
                Objects.requireNonNullElse(width, 1),
                Objects.requireNonNullElse(depth, 1),
                Objects.requireNonNullElse(lanes, 0));
        return LabOptions.DEFAULTS.withScale(scale).withFaults(faults(fault));
    }

    private static int hostDelay(@Nullable Integer delay) {
        int ticks = Objects.requireNonNullElse(delay, 1);
        if (ticks < 0 || ticks > MOST_DELAY) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "delay is %d, which is not within [0, %d]".formatted(ticks, MOST_DELAY));
        }
        return ticks;
    }

    Object answer(Supplier<String> json) {
        return runs.answer(MediaType.APPLICATION_JSON, json);
    }

    /** Refuses further runs. Runs in progress end, and the requests get their responses. */
    @Override
    public void close() {
        runs.close();
    }

    private static List<Fault> faults(@Nullable String text) {
        return text == null || text.isEmpty() ? List.of() : Fault.parseList(text, MOST_FAULTS);
    }
}
