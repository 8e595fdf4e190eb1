package io.github.iree4j.spring.actuate.endpoint;

import io.github.iree4j.spring.problems.Problem;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The problems keeping work from advancing.
 *
 * @param problems as found at the watchdog's last look
 */
public record ProblemsDescriptor(List<Found> problems) implements OperationResponseBody {

    /**
     * A problem.
     *
     * @param kind from a fixed list
     * @param subject the object with the problem
     * @param summary a sentence
     * @param since duration of the effect on work
     * @param links the way from waiting work to a missing signal, or round a deadlock; empty for other problems
     * @param chain the affected work, and the awaited work
     * @param remedy the recommended action
     */
    public record Found(
            String kind,
            String subject,
            String summary,
            Duration since,
            List<String> links,
            List<String> chain,
            String remedy) {}

    static ProblemsDescriptor of(List<Problem> problems) {
        return new ProblemsDescriptor(problems.stream()
                .map(each -> new Found(
                        each.kind(),
                        each.subject(),
                        each.summary(),
                        each.since(),
                        each.links(),
                        each.chain(),
                        each.remedy()))
                .toList());
    }
}
