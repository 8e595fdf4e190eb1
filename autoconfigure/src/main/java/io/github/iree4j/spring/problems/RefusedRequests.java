package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import io.github.iree4j.status.DurationText;
import java.time.Duration;
import java.util.List;

/**
 * Requests are refused for lack of request memory.
 *
 * @param property the property setting the memory limit
 * @param memory the limit in bytes
 * @param held the use of the memory at the latest refusal
 * @param ago the time since the latest refusal
 * @param since duration of the repeated refusals
 */
@NotForApplications
public record RefusedRequests(String property, long memory, Held held, Duration ago, Duration since)
        implements Problem {

    /**
     * The use of request memory at a refusal.
     *
     * @param answers number of unread answers
     * @param inAnswers bytes of unread answers
     * @param bodies number of other requests, with their bodies
     * @param inBodies bytes of these requests
     * @param limit bytes available to the refused request
     * @param excess bytes needed by the refused request beyond the limit
     */
    public record Held(int answers, long inAnswers, int bodies, long inBodies, long limit, long excess) {}

    @Override
    public String kind() {
        return "refused-requests";
    }

    @Override
    public String subject() {
        return "memory for requests";
    }

    @Override
    public String summary() {
        return "requests are refused because memory for requests is held by %d unread answers (%d bytes) and %d bodies (%d bytes): the last one, %s ago, needed %d bytes more than the %d that it may use"
                .formatted(
                        held.answers,
                        held.inAnswers,
                        held.bodies,
                        held.inBodies,
                        DurationText.rounded(ago),
                        held.excess,
                        held.limit);
    }

    @Override
    public List<String> chain() {
        return List.of();
    }

    @Override
    public String remedy() {
        return "raise '%s', which is %d bytes, or send fewer large requests at once; clients that read slowly give way after 'iree.http.body-timeout'"
                .formatted(property, memory);
    }
}
