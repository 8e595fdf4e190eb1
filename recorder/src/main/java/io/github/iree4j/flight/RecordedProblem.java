package io.github.iree4j.flight;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;

/**
 * A condition keeping work from advancing when a recording was taken, as far as the recording shows.
 *
 * @param kind {@code unsignalled-fence}, {@code deadlock} or {@code memory-shortage}; {@code unknown-signal} where operations,
 *     calls or points are not in the recording, so that the work may end without the host
 * @param summary a sentence
 * @param age nanoseconds for which the oldest affected work had waited; a lower bound for an operation submitted before the
 *     recording began, and the age of the call for an operation whose time of submission is not recorded
 * @param calls numbers of the affected calls, waiting calls first, the oldest at the beginning; at most 1,000
 * @param links the way from affected work to a missing signal: a call or an operation, then points and operations in turn,
 *     at last the missing signal, or in a deadlock the operation that closes the cycle; of a long way the
 *     first and last {@value #MOST_LINKS} links, with the number of operations in between; empty for a shortage
 * @param chain lines about the affected work, the calls first
 * @param remedy the recommended action
 */
public record RecordedProblem(
        String kind,
        String summary,
        long age,
        List<Long> calls,
        List<String> links,
        List<String> chain,
        String remedy) {
    static final String UNKNOWN = "unknown-signal";

    private static final int MOST_LINES = 10;
    private static final int MOST_LINKS = 10; // even: an operation or a call, then points and operations in turn
    private static final int MOST_CALLS = 1_000;

    /** Copies. */
    public RecordedProblem {
        calls = List.copyOf(calls);
        links = List.copyOf(links);
        chain = List.copyOf(chain);
    }

    /** Returns the calls without repetitions, and without 0, the call of other operations. */
    static List<Long> calls(LongStream calls) {
        return calls.filter(each -> each != 0)
                .distinct()
                .limit(MOST_CALLS)
                .boxed()
                .toList();
    }

    /** Returns the calls of affected work, waiting calls first if these are first. */
    static List<Long> calls(List<OpenWork> work) {
        return calls(work.stream().mapToLong(OpenWork::call));
    }

    /** Returns how long the oldest of affected work has waited, in nanoseconds. */
    static long oldest(List<OpenWork> work) {
        return work.stream().mapToLong(OpenWork::age).max().orElse(0);
    }

    /** Returns the amount of affected work in words. */
    static String count(List<OpenWork> work) {
        long calls = work.stream().filter(OpenWork::isCall).count();
        return count(calls, work.size() - calls);
    }

    /** Returns the first lines, and the number of the others. */
    static List<String> listed(List<String> lines) {
        List<String> listed = new ArrayList<>(lines.subList(0, Math.min(MOST_LINES, lines.size())));
        if (lines.size() > MOST_LINES) {
            listed.add("and %d more".formatted(lines.size() - MOST_LINES));
        }
        return listed;
    }

    /** Returns the first and the last links of a way, and the number of the operations in between. */
    static List<String> shortened(List<String> links) {
        if (links.size() <= 2 * MOST_LINKS + 1) {
            return links;
        }
        int last =
                links.size() - MOST_LINKS - (links.size() % 2); // an operation, since the first links end with a point
        List<String> shortened = new ArrayList<>(links.subList(0, MOST_LINKS));
        shortened.add(RecordedCalls.count((last - MOST_LINKS + 1) / 2, "operation") + " in between");
        shortened.addAll(links.subList(last, links.size()));
        return shortened;
    }

    /** Returns the amount of affected work in words. */
    static String count(long calls, long operations) {
        String left = RecordedCalls.count(calls, "call");
        String right = RecordedCalls.count(operations, "operation");
        return calls == 0 ? right : operations == 0 ? left : left + " and " + right;
    }
}
