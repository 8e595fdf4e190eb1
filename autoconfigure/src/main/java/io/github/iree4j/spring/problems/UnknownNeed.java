package io.github.iree4j.spring.problems;

import io.github.iree4j.api.NotForApplications;
import java.time.Duration;
import java.util.List;

/**
 * Calls wait to be admitted one after the other, since the calls' needs of memory are not known. No deadlock, and no
 * lack of memory.
 *
 * @param subject the device
 * @param awaited the memory that the calls are guessed to need
 * @param held the limit of the device, and the memory held by each program
 * @param waiting amount of affected work
 * @param chain the waiting work, at least the oldest
 * @param since the longest wait
 */
@NotForApplications
public record UnknownNeed(String subject, String awaited, String held, int waiting, List<String> chain, Duration since)
        implements Problem {

    @Override
    public String kind() {
        return "unknown-need";
    }

    @Override
    public String summary() {
        return "%d calls wait to be admitted to memory of %s: the need of such calls is not known before a similar call has succeeded, so each begins alone; a guess is %s; %s"
                .formatted(waiting, subject, awaited, held);
    }

    @Override
    public String remedy() {
        return "nothing is stuck: a call is admitted when no other call runs, or a second after the call before if the guess fits; to have the need known before the first requests, call the function while the program loads (iree.modules.<name>.warm-up)";
    }
}
