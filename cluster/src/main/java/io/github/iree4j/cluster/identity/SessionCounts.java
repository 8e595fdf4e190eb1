package io.github.iree4j.cluster.identity;

import io.github.iree4j.frontier.Axis;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Arrays;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The grants of a cluster: the cluster's id, the last incarnation, and for each machine index the last session. A
 * single value, so that no part is lost alone.
 */
final class SessionCounts {
    private static final int MACHINES = Axis.MAXIMUM_MACHINE + 1;
    private static final Pattern TEXT = Pattern.compile("1 ([0-9a-f]{16}) ([0-9]{1,18})((?: [0-9]{1,3})*)");

    private final long clusterId;
    private final long incarnation;
    private final int[] sessions; // by machine index

    private SessionCounts(long clusterId, long incarnation, int[] sessions) {
        this.clusterId = clusterId;
        this.incarnation = incarnation;
        this.sessions = sessions;
    }

    /** Returns the counts of a new cluster without grants. */
    static SessionCounts of(long clusterId) {
        return new SessionCounts(clusterId, 0, new int[MACHINES]);
    }

    /**
     * Parses the output of {@link #toString}.
     *
     * @param from the source of the text, for messages
     * @throws IreeException DATA_LOSS for any other text
     */
    static SessionCounts parse(String text, String from) {
        Matcher fields = TEXT.matcher(text);
        int[] sessions = new int[MACHINES];
        boolean valid = fields.matches();
        if (valid && !fields.group(3).isEmpty()) {
            String[] counts = fields.group(3).strip().split(" ");
            valid = counts.length <= MACHINES;
            for (int machine = 0; valid && machine < counts.length; machine++) {
                sessions[machine] = Integer.parseInt(counts[machine]);
                valid = sessions[machine] <= Axis.MAXIMUM_SESSION;
            }
        }
        if (!valid) {
            String shown = text.length() > 80 ? text.substring(0, 80) + "…" : text;
            throw IreeException.of(
                    StatusCode.DATA_LOSS,
                    "%s is damaged: '%s'; which sessions were used is unknown, so stop all nodes and start them with another 'iree.cluster.name'"
                            .formatted(from, shown.replaceAll("[^\\x20-\\x7e…]", "?")));
        }
        return new SessionCounts(
                Long.parseUnsignedLong(fields.group(1), 16), Long.parseLong(fields.group(2)), sessions);
    }

    long clusterId() {
        return clusterId;
    }

    /** The last incarnation; 0 before the first. */
    long incarnation() {
        return incarnation;
    }

    /** The last session of a machine index; 0 before the first. */
    int session(int machine) {
        return sessions[machine];
    }

    boolean isExhausted(int machine) {
        return sessions[machine] >= Axis.MAXIMUM_SESSION;
    }

    /** Returns the counts after another session of a machine index, and another incarnation. */
    SessionCounts next(int machine) {
        int[] counted = sessions.clone();
        counted[machine]++;
        return new SessionCounts(clusterId, incarnation + 1, counted);
    }

    /** A single line: the version of this form, the cluster, the incarnation, and sessions up to the last session count other than 0. */
    @Override
    public String toString() {
        int used = MACHINES;
        while (used > 0 && sessions[used - 1] == 0) {
            used--;
        }
        return String.format(Locale.ROOT, "1 %016x %d", clusterId, incarnation)
                + Arrays.stream(sessions, 0, used)
                        .mapToObj(count -> " " + count)
                        .collect(Collectors.joining());
    }
}
