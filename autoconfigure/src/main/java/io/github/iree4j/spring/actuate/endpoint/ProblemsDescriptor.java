package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.problems.Problem;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What keeps work from advancing.
 *
 * @param problems as the watchdog has found them at its last look
 */
public record ProblemsDescriptor(List<Found> problems) implements OperationResponseBody {

    /**
     * One problem.
     *
     * @param kind one of a fixed list
     * @param subject what has the problem
     * @param summary a sentence
     * @param since how long work has been affected
     * @param chain the work that is affected, and what it waits for
     * @param remedy what to do about it
     */
    public record Found(
            String kind, String subject, String summary, Duration since, List<String> chain, String remedy) {}

    static ProblemsDescriptor of(List<Problem> problems) {
        return new ProblemsDescriptor(problems.stream()
                .map(each -> new Found(
                        each.kind(), each.subject(), each.summary(), each.since(), each.chain(), each.remedy()))
                .toList());
    }
}
