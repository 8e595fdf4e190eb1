package io.github.iree4j.spring.problems;

import java.time.Duration;
import java.util.List;

/**
 * Requests are refused for lack of memory for requests.
 *
 * @param property the property that sets its limit
 * @param memory its limit in bytes
 * @param held what held the memory when the last one was refused
 * @param ago when that was
 * @param since for how long requests have been refused, again and again
 */
public record RefusedRequests(String property, long memory, Held held, Duration ago, Duration since)
        implements Problem {

    /**
     * What held the memory of requests when one was refused for it.
     *
     * @param answers how many answers clients had not read
     * @param inAnswers bytes of answers
     * @param bodies how many requests there were beside, with their bodies
     * @param inBodies bytes of those
     * @param limit how many bytes the request might have used
     * @param excess how many more it needed
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
                .formatted(held.answers, held.inAnswers, held.bodies, held.inBodies, ago, held.excess, held.limit);
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
