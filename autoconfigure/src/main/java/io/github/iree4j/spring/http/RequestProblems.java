package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.spring.http.BodyLimits.Shortage;
import io.github.iree4j.spring.problems.Problem;
import io.github.iree4j.spring.problems.ProblemSource;
import io.github.iree4j.spring.problems.RefusedRequests;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reports refusals of requests for lack of memory, from the first refusal until no request has been refused for the
 * watchdog's patience. The reported memory use is the use at the latest refusal: later, the memory may be free.
 */
@NotForApplications
public final class RequestProblems implements ProblemSource {

    private final BodyLimits limits;
    private @Nullable Shortage first; // first reported refusal; guarded by this

    /**
     * Creates a source.
     *
     * @param limits the limits refusing the requests
     */
    public RequestProblems(BodyLimits limits) {
        this.limits = limits;
    }

    @Override
    public synchronized List<Problem> find(Duration patience) {
        Shortage last = limits.shortage();
        long now = limits.now();
        if (last == null || now - last.time() > patience.toNanos()) {
            first = null;
            return List.of();
        }
        if (first == null) {
            first = last;
        }
        RefusedRequests.Held held = new RefusedRequests.Held(
                last.answers(),
                last.inAnswers(),
                last.requests(),
                Math.max(0, last.inFlight() - last.inAnswers()),
                last.limit(),
                last.excess());
        return List.of(new RefusedRequests(
                BodyLimits.MEMORY,
                limits.maximumInFlight(),
                held,
                Duration.ofNanos(now - last.time()),
                Duration.ofNanos(now - first.time())));
    }
}
